import v8 from 'node:v8'
import vm from 'node:vm'

/**
 * The resident set size of this process in bytes. On Linux, Node.js reads it from /proc and throws where that is not mounted; then
 * this returns the highest size so far, as the system call getrusage reports it.
 */
export function residentBytes(): number {
  try {
    return process.memoryUsage.rss()
  } catch {
    return process.resourceUsage().maxRSS * 1024
  }
}

/**
 * Collects all garbage of this thread's heap, which blocks it for 1 to 2 ms per megabyte in use. V8 does so only when the heap has grown,
 * and gives memory back to the operating system only after it: when V8 finds the thread idle some seconds later.
 */
export function collectGarbage(): void {
  // The function exists only in contexts that are made after the flag was set. The flag is the process's: it stays set, because another
  // thread may be between these two lines.
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  collect()
}
