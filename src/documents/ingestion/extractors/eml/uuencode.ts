/** Most files that are read of one text. */
const maximumFiles = 100

export interface EncodedFile {
  name: string
  content: Buffer
}

/**
 * Takes uuencoded files out of the text of a message, as programs without MIME attach them (POSIX `uuencode`). A block without its `end`
 * counts if the message is cut there. Linear in the length of the text.
 */
export function takeUuencoded(content: Buffer): { text: Buffer; files: EncodedFile[] } {
  if (!content.includes('begin ')) return { text: content, files: [] }
  const kept: Buffer[] = []
  const files: EncodedFile[] = []
  let keptFrom = 0
  for (let at = 0; at < content.length && files.length < maximumFiles;) {
    const line = lineAt(content, at)
    const name = /^begin [0-7]{3,4} (\S[^\r\n]{0,254})$/.exec(line.text)?.[1]
    const file = name === undefined ? null : decodeFrom(content, line.next)
    if (file) {
      files.push({ name: name!.trim(), content: file.bytes })
      kept.push(content.subarray(keptFrom, at))
      keptFrom = file.next
    }
    at = file?.next ?? line.next
  }
  if (files.length === 0) return { text: content, files }
  return { text: Buffer.concat([...kept, content.subarray(keptFrom)]), files }
}

/** Longest line of an encoded file: 63 bytes. Longer ones are text, of which only the beginning matters. */
const maximumLine = 300

function lineAt(content: Buffer, from: number): { text: string; next: number } {
  const end = content.indexOf(0x0a, from)
  const to = end === -1 ? content.length : end
  const text = content.toString('latin1', from, Math.min(to, from + maximumLine)).replace(/\r$/, '')
  return { text, next: end === -1 ? content.length : end + 1 }
}

/** The bytes of the lines from a place to the line `end`; null where they are no encoded file. */
function decodeFrom(content: Buffer, from: number): { bytes: Buffer; next: number } | null {
  const parts: Buffer[] = []
  for (let at = from; ;) {
    if (at >= content.length) return parts.length > 0 ? { bytes: Buffer.concat(parts), next: at } : null
    const line = lineAt(content, at)
    at = line.next
    if (line.text.trim() === 'end' && parts.length > 0) return { bytes: Buffer.concat(parts), next: at }
    const bytes = decodeLine(line.text)
    if (!bytes) return null
    parts.push(bytes)
  }
}

/** The first character counts the bytes; each four others are three bytes. Mail servers cut blanks from ends of lines. */
function decodeLine(line: string): Buffer | null {
  if (/[^ -`]/.test(line)) return null
  const count = valueOf(line, 0)
  const characters = Math.ceil(count / 3) * 4
  if (line.length > characters + 2) return null
  const bytes = Buffer.alloc(count)
  for (let at = 0; at < count; at += 1) {
    const group = 1 + Math.floor(at / 3) * 4
    const place = at % 3
    const pair = (valueOf(line, group + place) << 6) | valueOf(line, group + place + 1)
    bytes[at] = pair >> (4 - 2 * place)
  }
  return bytes
}

function valueOf(line: string, at: number): number {
  return at < line.length ? (line.charCodeAt(at) - 0x20) & 0x3f : 0
}
