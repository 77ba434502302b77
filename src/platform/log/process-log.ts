import fs from 'node:fs'
import { isatty } from 'node:tty'
import { format } from 'node:util'
import pino from 'pino'
import { isObject, type Log, type LogFields } from '../kernel/index.ts'

interface LogSettings {
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
      formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
    },
    isText ? asText(destination) : destination,
  )
}

/**
 * A second defence: no caller puts these into a field, and they are removed if one does. The `redact` of pino takes three times as long as the
 * rest of a line.
 */
const secretNames: ReadonlySet<string> = new Set(['apiKey', 'authorization', 'headers'])

/** Without the secrets in the fields and one level below. */
function withoutSecrets(fields: LogFields): LogFields {
  if (!hasSecret(fields, true)) return fields
  const strip = (from: object) => Object.entries(from).filter(([name]) => !secretNames.has(name))
  return Object.fromEntries(
    strip(fields).map(([name, value]) => [name, isObject(value) ? Object.fromEntries(strip(value)) : value]),
  )
}

function hasSecret(fields: LogFields, isDeep: boolean): boolean {
  for (const name in fields) {
    const value = fields[name]
    if (secretNames.has(name) || (isDeep && isObject(value) && hasSecret(value, false))) return true
  }
  return false
}

function asText(destination: ReturnType<typeof openLogDestination>) {
  // hasColors() reads TERM, NO_COLOR and FORCE_COLOR.
  const colors = isatty(2) && process.stderr.hasColors()
  return { write: (json: string) => destination.write(renderLogLine(json, colors)) }
}

/**
 * Renders a JSON line of the log for a terminal: `17:02:03.123 INFO  document processed status=ready durationMs=248`, in local time.
 * Fields may hold text from clients, so every character that a terminal could obey, reorder or hide is written as an escape.
 */
export function renderLogLine(json: string, colors: boolean): string {
  let record: Record<string, unknown>
  try {
    record = JSON.parse(json) as Record<string, unknown>
  } catch {
    return `${escapeText(json.trimEnd())}\n`
  }
  const { level, time, pid: _pid, msg, stack, ...fields } = record
  const label = escapeText(String(level)).toUpperCase()
  const paint = (code: number | undefined, text: string) =>
    colors && code !== undefined && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text
  const details = Object.entries(fields).map(([name, value]) => ` ${escapeText(name)}=${renderValue(value)}`)
  const trace = typeof stack === 'string' ? stack.split('\n').map((line) => `    ${escapeText(line.trim())}\n`) : []
  return [
    `${paint(codes.dim, localTime(String(time)))} ${paint(codes[label], label.padEnd(5))} ${escapeText(String(msg))}`,
    `${paint(codes.dim, details.join(''))}\n`,
    ...trace,
  ].join('')
}

/** SGR codes of the terminal. */
const codes: Record<string, number> = { dim: 2, DEBUG: 36, INFO: 32, WARN: 33, ERROR: 31 }

function localTime(iso: string): string {
  const date = new Date(iso)
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** A single word as it is, all else as JSON, so that the end of a value is never in doubt. */
function renderValue(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/@%+-]+$/.test(value) ? value : escapeText(JSON.stringify(value))
}

/** Control and format characters (escape sequences, line breaks, bidirectional overrides) and unpaired surrogates as `\u{1b}`. */
function escapeText(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}

/** Most characters that wait for a slow reader, some 50,000 lines; later lines are dropped. */
const maximumWaiting = 8 * 1024 * 1024
/** Pause before a write to a full pipe is repeated. */
const retryMs = 50
/** How long the exit of the process waits for a slow reader. */
const exitWaitMs = 2_000

/**
 * Writes text to a file descriptor without blocking the event loop, in order. What still waits when the process exits is written
 * then. A write that fails (the terminal or the pipe was closed, the disk is full) loses its lines and nothing else: calls in flight
 * still finish. SonicBoom, pino's own destination, has no bound and repeats such a write for ever when the process exits.
 */
function openLogDestination(descriptor: number): { write(text: string): void } {
  let waiting = ''
  let isWriting = false
  let isScheduled = false
  /** What a full pipe did not take, until the write is repeated. */
  let rejected: Buffer = Buffer.alloc(0)

  const writeNext = (bytes: Buffer) => {
    isWriting = true
    rejected = Buffer.alloc(0)
    fs.write(descriptor, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') {
        rejected = bytes
        setTimeout(writeNext, retryMs, bytes)
        return
      }
      if (!error && written < bytes.length) return writeNext(bytes.subarray(written))
      isWriting = false
      flush()
    })
  }
  const flush = () => {
    if (isWriting || waiting === '') return
    const bytes = Buffer.from(waiting)
    waiting = ''
    writeNext(bytes)
  }
  process.on('exit', () => writeAtExit(descriptor, Buffer.concat([rejected, Buffer.from(waiting)])))

  return {
    write(text) {
      if (waiting.length + text.length > maximumWaiting) return
      waiting += text
      // Lines before an exit in the same turn are then all written at the exit, in order: a write that another thread has not begun by then
      // would come after them.
      if (isScheduled) return
      isScheduled = true
      setImmediate(() => {
        isScheduled = false
        flush()
      })
    },
  }
}

/** Another thread finishes the write that is already under way. */
function writeAtExit(descriptor: number, text: Buffer): void {
  const deadline = performance.now() + exitWaitMs
  let rest = text
  while (rest.length > 0) {
    try {
      rest = rest.subarray(fs.writeSync(descriptor, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > deadline) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs)
    }
  }
}

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
