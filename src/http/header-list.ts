/** Longest list of names in one header; what a client sent must not blow it up. */
const maximumHeaderNames = 20

/** Names that a client chose, made fit for a header value. */
export function headerList(names: string[]): string {
  const clean = names.slice(0, maximumHeaderNames).map((name) => name.slice(0, 60).replaceAll(/[^\w.-]/g, '?'))
  return clean.join(', ') + (names.length > maximumHeaderNames ? `, and ${names.length - maximumHeaderNames} more` : '')
}
