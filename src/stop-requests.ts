/** How a process is stopped from outside: by signals, and by the end of the npm that started it. */

/** Interval of checking the parent process, one system call each. An orphan starts to stop after this time at the latest. */
const parentCheckMs = 250

const parentOption = /^--stop-with=([1-9]\d*)$/

/**
 * Calls `stop` with the reason on SIGTERM, SIGINT and SIGHUP. With the argument `--stop-with=PID`, `stop` is also called when PID is no
 * longer the parent. npm does not forward SIGHUP and cannot forward SIGKILL, so a service that npm started would keep running.
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
