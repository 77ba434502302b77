/** The beginning of a text with at most this many UTF-8 bytes, as PostgreSQL can store it. */
export function cutText(text: string, maximumBytes: number): { text: string; isCut: boolean } {
  // A UTF-16 unit takes at most 3 bytes, and at least one.
  const isShort = 3 * text.length <= maximumBytes || Buffer.byteLength(text) <= maximumBytes
  return { text: toStorableText(isShort ? text : cut(text.slice(0, maximumBytes), maximumBytes)), isCut: !isShort }
}

function cut(text: string, maximumBytes: number): string {
  const bytes = Buffer.from(text)
  let end = Math.min(maximumBytes, bytes.length)
  // Not within a character: its further bytes begin with the bits 10.
  while (end > 0 && end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}
