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
