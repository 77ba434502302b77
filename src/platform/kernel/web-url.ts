/**
 * A text as the address of a web page, null where it is none. Only http and https: everything else may run code or open local files.
 * It is read as browsers do, which drop tabs and line breaks (`java\tscript:`).
 */
export function toWebUrl(text: string): string | null {
  const trimmed = text.trim()
  if (trimmed.includes('\u0000') || !trimmed.isWellFormed() || !URL.canParse(trimmed)) return null
  const url = new URL(trimmed)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null
  // White space and control characters only as the parser has read them.
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u0020\u007f-\u009f]/.test(trimmed) || !/^https?:\/\//i.test(trimmed) ? url.href : trimmed
}
