import { isatty } from 'node:tty'
import pino from 'pino'
import type { Log } from '../kernel/index.ts'
import { openLogDestination } from './log-destination.ts'
import { renderLogLine } from './log-text.ts'

export interface LogSettings {
  level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** `auto`: text on a terminal, JSON elsewhere. */
  format: 'auto' | 'json' | 'text' | 'pretty'
}

/**
 * The log on standard error; standard output has only what a person reads at the start. JSON lines, or text where standard error is
 * a terminal. Both forms come from the same redacted record, and each line has `fields`.
 */
export function createLog({ level, format }: LogSettings, fields: Record<string, number> = {}): Log {
  const destination = openLogDestination(2)
  const isText = format === 'auto' ? isatty(2) : format !== 'json'
  return pino(
    {
      level,
      base: { pid: process.pid, ...fields },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // A second defence: no caller puts these into a field, and they are removed if one does.
      redact: {
        paths: ['apiKey', 'authorization', '*.apiKey', '*.authorization', 'headers', '*.headers'],
        remove: true,
      },
    },
    isText ? asText(destination) : destination,
  )
}

function asText(destination: ReturnType<typeof openLogDestination>) {
  // hasColors() reads TERM, NO_COLOR and FORCE_COLOR.
  const colors = isatty(2) && process.stderr.hasColors()
  return { write: (json: string) => destination.write(renderLogLine(json, colors)) }
}
