/** The ways in which a process is asked to stop: signals, and the end of the npm that started it. */

/** How often the parent is looked up: one system call each, and the longest that an orphan lives before it begins to stop. */
const parentCheckMs = 250

const parentOption = /^--stop-with=([1-9]\d*)$/

/**
 * Calls `stop` with the reason on SIGTERM, SIGINT and SIGHUP. With `--stop-with=PID` among the arguments also when PID is no longer the
 * parent: npm does not forward SIGHUP, and nothing can forward SIGKILL, so a service that npm started would be left running.
 */
export function onStopRequest(argv: readonly string[], stop: (reason: string) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop(signal))
  const parent = argv.map((argument) => parentOption.exec(argument)?.[1]).find((pid) => pid !== undefined)
  if (parent === undefined) return
  const timer = setInterval(() => {
    if (process.ppid === Number(parent)) return
    clearInterval(timer)
    stop('end of the parent process')
  }, parentCheckMs)
  timer.unref()
}
