import pino from 'pino'
import type { Log } from './kernel/index.ts'

/** JSON lines on standard error: standard output belongs to what a person at the start should read. */
export function createLog(level: 'debug' | 'info' | 'warn' | 'error' | 'silent'): Log {
  const destination = pino.destination({ fd: 2, sync: false, minLength: 0 })
  // A terminal or a pipe that was closed (EIO, EPIPE): calls in flight still finish, so a lost log line must not end the process.
  destination.on('error', () => {})
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // A last net: these never belong into a field, and are cut out where one got there.
      redact: {
        paths: ['apiKey', 'authorization', '*.apiKey', '*.authorization', 'headers', '*.headers'],
        remove: true,
      },
    },
    destination,
  )
}
