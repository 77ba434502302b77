import pino from 'pino'
import type { Log } from './kernel/index.ts'

/** JSON lines on standard error: standard output belongs to what a person at the start should read. */
export function createLog(level: 'debug' | 'info' | 'warn' | 'error' | 'silent'): Log {
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
    pino.destination({ fd: 2, sync: false, minLength: 0 }),
  )
}
