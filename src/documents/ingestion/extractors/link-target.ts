const maximumTargetCharacters = 2_000

/** Most links that are open at once in a text; Word writes one. */
const maximumOpenLinks = 100

/** A text while it is read. */
export interface LinkedText {
  text: string
  /** Where the texts of open links begin, with their addresses. */
  links: { from: number; target: string }[]
}

/** Begins a link; its address is written where it ends. */
export function startLink(text: LinkedText | undefined, target: string) {
  if (text && text.links.length < maximumOpenLinks) text.links.push({ from: text.text.length, target })
}

/** Writes the address of the innermost open link after its text. */
export function endLink(paragraph: LinkedText | undefined) {
  const link = paragraph?.links.pop()
  if (!paragraph || !link) return
  const text = paragraph.text.slice(link.from)
  const target = link.target === '' || text.trim() === '' ? null : linkTarget(link.target, text)
  if (target !== null) paragraph.text = `${paragraph.text.trimEnd()} (${target})`
}

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
