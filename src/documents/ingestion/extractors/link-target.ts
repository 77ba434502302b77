const maximumTargetCharacters = 2_000

/** The address that a reader of a link's text needs as well: web and mail addresses that the text does not show. Else null. */
export function linkTarget(target: string, text: string): string | null {
  if (target.length > maximumTargetCharacters || !URL.canParse(target)) return null
  const { protocol } = new URL(target)
  if (protocol !== 'http:' && protocol !== 'https:' && protocol !== 'mailto:') return null
  const shown = protocol === 'mailto:' ? target.replace(/^mailto:/i, '').replace(/\?.*$/, '') : target
  return comparable(text).includes(comparable(shown)) ? null : shown
}

function comparable(text: string): string {
  return text
    .toLowerCase()
    .replace(/\s+/g, '')
    .replace(/^(https?:\/\/)?(www\.)?/, '')
    .replace(/\/$/, '')
}
