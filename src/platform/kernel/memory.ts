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
