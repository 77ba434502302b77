/** How a process is stopped from outside: by signals, and by the end of the npm that started it. */

/** Interval of checking the parent process, one system call each. An orphan starts to stop after this time at the latest. */
const parentCheckMs = 250

/**
 * Calls `stop` with the reason on SIGTERM, SIGINT and SIGHUP, and when `parent` (of the option --stop-with) is no longer the parent
 * process. npm does not forward SIGHUP and cannot forward SIGKILL, so a service that npm started would keep running.
 */
export function onStopRequest(parent: number | undefined, stop: (reason: string) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop(signal))
  if (parent === undefined) return
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop('end of the parent process')
  }, parentCheckMs)
  timer.unref()
}
