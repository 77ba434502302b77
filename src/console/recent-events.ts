import type { Log, LogFields } from '../platform/kernel/index.ts'
import type { SystemEvent } from '../contract/console-system.ts'

/** Warnings and errors of this process that operators can read without its log. */
const maximumEvents = 200
const maximumFields = 12
const maximumCharacters = 300
/** A second defence, as in the log itself: no caller puts these into a field. */
const secretFields = /^(?:apiKey|authorization|headers|stack|cookie|password|secret|token|key)$/i

/** Keeps the newest warnings and errors in memory. */
export function createRecentEvents(now: () => number) {
  const events: SystemEvent[] = []
  let sequence = 0

  function keep(level: SystemEvent['level'], fields: LogFields, message: string): void {
    sequence += 1
    events.push({ sequence, at: new Date(now()).toISOString(), level, message: cut(message), fields: readable(fields) })
    if (events.length > maximumEvents) events.shift()
  }

  /** The same log, whose warnings and errors are kept as well; the other methods are inherited. */
  function record(log: Log, inherited: LogFields = {}): Log {
    const kept: Pick<Log, 'warn' | 'error' | 'child'> = {
      warn(fields, message) {
        keep('warn', { ...inherited, ...fields }, message)
        log.warn(fields, message)
      },
      error(fields, message) {
        keep('error', { ...inherited, ...fields }, message)
        log.error(fields, message)
      },
      child: (fields) => record(log.child(fields), { ...inherited, ...fields }),
    }
    return Object.assign(Object.create(log) as Log, kept)
  }

  return {
    record: (log: Log) => record(log),
    /** Newest first. */
    list: (): SystemEvent[] => events.toReversed(),
  }
}

export type RecentEvents = ReturnType<typeof createRecentEvents>

function readable(fields: LogFields): Record<string, string> {
  const shown = Object.entries(fields).filter(([name, value]) => !secretFields.test(name) && value !== undefined)
  return Object.fromEntries(
    shown
      .slice(0, maximumFields)
      .map(([name, value]) => [cut(name), cut(typeof value === 'string' ? value : text(value))]),
  )
}

/** Nested values may have secrets in their members, so only their kind is kept. */
function text(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length}]`
  return typeof value === 'object' && value !== null ? '{…}' : String(value)
}

function cut(value: string): string {
  return value.length > maximumCharacters ? `${value.slice(0, maximumCharacters)}…` : value
}
