/** What may go into the header of a request to a provider. A line break or a control character would break the request, or forge another. */

export const keyRule = 'must have visible ASCII characters only: no spaces, line breaks or control characters'

export function isKey(text: string): boolean {
  return /^[\u0021-\u007e]+$/.test(text)
}

export const headerValueRule = 'must have no line breaks or control characters, and no characters beyond Latin-1'

export function isHeaderValue(text: string): boolean {
  return /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(text)
}
