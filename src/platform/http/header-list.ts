/** Longest list of names in one header. */
const maximumHeaderNames = 20

/** Names chosen by a client, made safe for a header value. */
export function headerList(names: string[]): string {
  const clean = names.slice(0, maximumHeaderNames).map((name) => name.slice(0, 60).replaceAll(/[^\w.-]/g, '?'))
  return clean.join(', ') + (names.length > maximumHeaderNames ? `, and ${names.length - maximumHeaderNames} more` : '')
}
