import { inspect } from 'node:util'

/** The error of a statement. `message` is for the log only: it may name columns and values. */
export class DatabaseError extends Error {
  /** SQLSTATE, five characters: 57014 for a statement past its deadline, 08006 for a lost connection. */
  readonly code: string
  /** There was no connection for it, so it has certainly had no effect. False: it may have one. */
  readonly isUnsent: boolean

  constructor(code: string, message: string, { isUnsent = false }: { isUnsent?: boolean } = {}) {
    super(message)
    this.name = 'DatabaseError'
    this.code = code
    this.isUnsent = isUnsent
  }

  /** True where the database could not run the statement at the moment; the same statement may succeed later. */
  get isUnavailable(): boolean {
    return unavailableStates.test(this.code) || fileFault.test(this.message)
  }
}

// SQLSTATE: 08 connection lost, 25P03 idle in transaction for too long, 25006 read-only after a failover, 40 rolled back by the
// server, 53 out of resources (connections, memory, disk), 55P03 lock not granted in time, 57014 statement past its limit,
// 57P shutdown and start, 58030 input/output error.
const unavailableStates = /^(?:08|25P03|25006|40|53|55P03|57014|57P|58030)/

// A file that the server cannot use has the SQLSTATE of its errno: 42501 on a read-only disk, 58P01 where the disk is gone, XX000
// (errcode_for_file_access in PostgreSQL's elog.c).
const fileFault =
  /^could not (?:access|create|extend|fsync|open|read|rename|seek|stat|truncate|write)\b.* (?:file|directory) /

/** The database cannot be opened. `message` is for the operator: it names the folder or database and the remedy. */
export class DatabaseStartError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'DatabaseStartError'
  }
}

export const sqlState = {
  connectionLost: '08006',
  protocolViolation: '08P01',
  foreignKeyViolation: '23503',
  readOnly: '25006',
  serializationFailure: '40001',
  deadlock: '40P01',
  transactionFailed: '25P02',
  tooManyWaiting: '53300',
  lockNotAvailable: '55P03',
  cancelled: '57014',
  ioError: '58030',
  internal: 'XX000',
} as const

/** True when a row refers to a missing row, or a row to delete is still referred to. */
export function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === sqlState.foreignKeyViolation
}

/** True where the same transaction may succeed when it is repeated. */
export function isRetryable(error: unknown): boolean {
  return (
    error instanceof DatabaseError && (error.code === sqlState.serializationFailure || error.code === sqlState.deadlock)
  )
}

// SQLSTATE: 08 connection lost, 57P01 and 57P02 the server ended it.
const lostStates = /^(?:08|57P0[12])/

/** The loss of a connection that an error reports or was caused by; undefined where it is another error. */
export function findLostConnection(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as { code?: unknown }
  if (typeof code === 'string' && lostStates.test(code)) return error
  // `suppressed`: closing the parts that were open has failed as well.
  const { suppressed } = error as { suppressed?: unknown }
  return findLostConnection(error.cause) ?? findLostConnection(suppressed)
}

// An uncaught error inside PGlite carries up to 20 KB of minified source in its text.
const maximumMessageCharacters = 300

// Of WASI, in which PGlite's file system reports errors of files: `{ name: 'ErrnoError', errno: 51 }`.
const fileErrors: Readonly<Record<number, string>> = {
  2: 'EACCES',
  19: 'EDQUOT',
  22: 'EFBIG',
  29: 'EIO',
  33: 'EMFILE',
  41: 'ENFILE',
  43: 'ENODEV',
  44: 'ENOENT',
  51: 'ENOSPC',
  54: 'ENOTDIR',
  60: 'ENXIO',
  63: 'EPERM',
  69: 'EROFS',
  72: 'ESTALE',
}

const describeValue = (value: unknown) =>
  typeof value === 'object' ? inspect(value, { depth: 0, breakLength: Infinity }) : String(value)

/** The first line of an error's text, cut to 300 characters. */
export function shortMessage(error: unknown): string {
  const { errno, name, message } = (error ?? {}) as { errno?: unknown; name?: unknown; message?: unknown }
  const isFileError = name === 'ErrnoError' && typeof errno === 'number'
  const text = isFileError
    ? `a file could not be read or written (${fileErrors[errno] ?? `errno ${errno}`})`
    : typeof message === 'string'
      ? message
      : describeValue(error)
  const line = text.split('\n', 1)[0]!.trim()
  return line.length > maximumMessageCharacters ? `${line.slice(0, maximumMessageCharacters)}…` : line
}

/** Turns an error of the driver into a DatabaseError with its SQLSTATE and a short text. An error without SQLSTATE is a lost connection. */
export function toDatabaseError(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { code } = (error ?? {}) as { code?: unknown }
  // Classes of SQLSTATE begin with a digit, F, H, P or X; EPIPE and EPERM are error numbers of the operating system.
  const isSqlState = typeof code === 'string' && /^[0-9FHPX][0-9A-Z]{4}$/.test(code)
  return new DatabaseError(isSqlState ? code : sqlState.connectionLost, shortMessage(error))
}
