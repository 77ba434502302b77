import { format } from 'node:util'
import type { Log } from '../kernel/index.ts'

/** Longest text of one line, in characters: an object that a library prints can be large. */
const maximumText = 2_000

/** Makes lines of the log from what libraries write to standard error with `console`, so that it has JSON lines only. */
export function logConsole(log: Log, target: Pick<Console, 'error' | 'warn' | 'trace'> = console): void {
  const report =
    (level: 'error' | 'warn') =>
    (...given: unknown[]): void =>
      log[level]({ text: format(...given).slice(0, maximumText) }, 'a library has written to the console')
  target.error = report('error')
  target.warn = target.trace = report('warn')
}
