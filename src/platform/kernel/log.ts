/** The log of all rooms. Fields never hold prompts, answers, document text or secrets. */
export interface Log {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  child(fields: LogFields): Log
}

export type LogFields = Record<string, unknown>

/** A log that drops everything, for tests and scripts. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
}
