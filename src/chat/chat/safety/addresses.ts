import { createTimeSlices, lookUp } from '../../../platform/kernel/index.ts'

/** Decides which addresses an answer may link to. Uploaded files can plant addresses that carry the conversation away. */

export interface TargetPolicy {
  /** `target`: an address as a client would follow it, without character references. */
  judge(target: string): TargetVerdict
}

export type TargetVerdict =
  /** No address of another server: a path of the client's own page, an anchor, or an address to write to. */
  | 'local'
  /** An address that cannot carry text of the conversation to a server that a document has named. */
  | 'allowed'
  /** Any other address. `shown` is what may be written of it, as text. */
  | { shown: string }

export interface TrustedSources {
  /** Those of the instructions of the Space and of the visitor's own messages, from `readAddresses`. */
  addresses: ReadonlySet<string>
  /** The passages that the model has received; the list may grow. `url` is set by the organisation, `text` is not trusted. */
  passages: readonly { url: string | null; text: string }[]
}

const webAddressPattern = /(?:https?:\/\/|www\.)[^\s<>"`[\]{}|\\^]+/giu
const hostPattern = /^[a-z0-9.-]+(?::\d+)?$/i
/** Paths that clients cannot read as something else. */
const pathPattern = /^\/[\w\-./~%+@]*$/
/** Most addresses whose path is looked for in the passages: each search reads all of them. */
const maximumSearches = 200
/** Most addresses that are read from instructions and messages, the invalid ones included. */
const maximumTrusted = 1_000
/** Longer addresses are not read. Those of an answer have at most 2,000 UTF-16 units. */
const maximumAddressUnits = 4_000

/**
 * Allowed are `addresses` and the `url` of a passage's document, and addresses without query and fragment of two kinds:
 * those whose host and path a passage contains, and those whose domain no passage contains, because the model knows them by itself.
 * Of others only the host may be shown, with the path if a passage contains both: then the path carries nothing that the
 * document did not already contain.
 */
export function createTargetPolicy({ addresses, passages }: TrustedSources): TargetPolicy {
  let searches = 0

  /** `otherwise` where too many addresses were looked for. */
  function isInPassages(contains: (text: string) => boolean, otherwise: boolean): boolean {
    return ++searches > maximumSearches ? otherwise : passages.some(({ text }) => contains(text))
  }

  return {
    judge(target) {
      // As browsers read an address: without tabs and line breaks, with both slashes.
      const cleaned = target.replaceAll(/[\t\n\r]/g, '').trim()
      const scheme = /^[a-z][a-z0-9+.-]*(?=:)/i.exec(cleaned)?.[0].toLowerCase()
      const isWeb = scheme === undefined || scheme === 'http' || scheme === 'https'
      if (!isWeb) return judgeOther(scheme, cleaned)
      const address = scheme === undefined ? /^(?:[\\/]{2}|www\.)/i.test(cleaned) && cleaned : cleaned
      if (address === false) return 'local'
      const url = parse(address)
      if (!url || !hostPattern.test(url.host)) return { shown: '' }
      if (
        addresses.has(url.href) ||
        passages.some((passage) => passage.url !== null && parse(passage.url)?.href === url.href)
      ) {
        return 'allowed'
      }
      const hostAndPath = url.pathname === '/' ? url.host : url.host + url.pathname
      const isWritten = pathPattern.test(url.pathname) && isInPassages((text) => text.includes(hostAndPath), false)
      const isBare = url.search === '' && url.hash === '' && url.username === '' && url.password === ''
      const domain = url.hostname.split('.').slice(-2).join('.')
      const isPlanted = () => isInPassages((text) => text.toLowerCase().includes(domain), true)
      if (isBare && (isWritten || !isPlanted())) return 'allowed'
      const shown = isWritten ? hostAndPath : url.host
      // Clients make links of a text that begins with www.
      return { shown: shown.replace(/^(?:www\.)+/i, '') }
    },
  }
}

function judgeOther(scheme: string, target: string): TargetVerdict {
  const address = target.slice(scheme.length + 1)
  if (scheme !== 'mailto' && scheme !== 'tel') return { shown: '' }
  const [shown = ''] = address.split('?', 1)
  return shown === address ? 'local' : { shown }
}

function parse(address: string): URL | null {
  const rest = address.replace(/^(?:https?:)?[\\/]*/i, '')
  const scheme = /^http:/i.test(address) ? 'http' : 'https'
  return URL.parse(`${scheme}://${rest}`)
}

/**
 * The first `maximumTrusted` addresses in the texts, each as a browser would write it. The event loop runs in between: the messages of a request
 * may have 33 million characters.
 */
export async function readAddresses(texts: readonly string[]): Promise<Set<string>> {
  const slice = createTimeSlices()
  const addresses = new Set<string>()
  let count = 0
  for (const text of texts) {
    await slice()
    for (const [raw] of text.matchAll(webAddressPattern)) {
      if (++count > maximumTrusted) return addresses
      const href = raw.length <= maximumAddressUnits ? parse(trimAddress(raw))?.href : undefined
      if (href !== undefined) addresses.add(href)
    }
  }
  return addresses
}

/** An address in a sentence, without the punctuation after it. */
export function trimAddress(address: string): string {
  let end = address.length
  let open = 0
  for (const character of address) open += character === '(' ? 1 : character === ')' ? -1 : 0
  for (; end > 0; end--) {
    const last = address[end - 1]!
    if (last === ')' && open < 0) open++
    else if (!/[.,;:!?'*_~]/.test(last)) break
  }
  return address.slice(0, end)
}

/** The parts of Markdown and HTML that can name an address. Pure. */

/** Longest link, image or tag that is recognised, UTF-16 units; it bounds the look-ahead. */
export const maximumSyntaxLength = 500
/** Deepest brackets in the text of a link. */
const maximumDepth = 8

/** The characters that an address may contain, of those that character references can hide. */
const addressCharacter = /^[A-Za-z0-9:/.?=@\\%&_#-]$/
const namedReferences: Record<string, string> = {
  amp: '&',
  AMP: '&',
  bsol: '\\',
  colon: ':',
  commat: '@',
  equals: '=',
  lowbar: '_',
  num: '#',
  percnt: '%',
  period: '.',
  quest: '?',
  sol: '/',
}
const referencePattern = /^&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{2,31}));/
/** Longest character reference. */
const maximumReferenceLength = 34

/** The character of the reference at the beginning of `text`, where an address may contain it; null: there is none; `more`: it may continue. */
export function readReference(text: string, atEnd: boolean): { character: string; length: number } | 'more' | null {
  const found = referencePattern.exec(text.slice(0, maximumReferenceLength))
  if (!found) {
    const isPart = text.length < maximumReferenceLength && /^&#?[A-Za-z0-9]*$/.test(text)
    return isPart && !atEnd ? 'more' : null
  }
  const [raw, decimal, hexadecimal, name] = found
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? 'x', 16) : Number.parseInt(decimal, 10)
  const character =
    name === undefined ? (code < 128 ? String.fromCharCode(code) : '') : (lookUp(namedReferences, name) ?? '')
  return addressCharacter.test(character) ? { character, length: raw.length } : null
}

/** A destination as a client follows it: without angle brackets, escapes and character references. */
export function decodeDestination(destination: string): string {
  const bare = /^<.*>$/s.test(destination) ? destination.slice(1, -1) : destination
  return decodeReferences(bare).replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
}

/** Longest beginning of an address that is recognised, with some of its characters as references, UTF-16 units. */
export const maximumStartLength = 80
const starts = ['https://', 'http://', 'www.']
const startPattern = /^(?:[A-Za-z:/.]|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});){0,8}/

/** The beginning of a web address at the beginning of `text`, decoded; `length` is what it takes in `text`. Null: there is none. */
export function readAddressStart(text: string, atEnd: boolean): { text: string; length: number } | 'more' | null {
  const raw = startPattern.exec(text)![0]
  const decoded = decodeReferences(raw)
  const begin = decoded.toLowerCase()
  if (starts.some((start) => begin.startsWith(start))) return { text: decoded, length: raw.length }
  const isPart = /^(?:&[#A-Za-z0-9]{0,32})?$/.test(text.slice(raw.length)) && text.length < maximumStartLength
  return isPart && !atEnd && starts.some((start) => start.startsWith(begin)) ? 'more' : null
}

/** The text with the references that `readReference` knows. */
function decodeReferences(text: string): string {
  return text.replaceAll(/&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});/g, (raw) => {
    const read = readReference(raw, true)
    return read === null || read === 'more' ? raw : read.character
  })
}

/** The index after the bracket that closes the one at `at`; -1: none on its line within the limit; null where more text is needed. */
export function closingBracket(text: string, at: number, atEnd: boolean): number | null {
  const limit = at + maximumSyntaxLength
  let depth = 0
  for (let index = at; index < text.length && index < limit; index++) {
    const character = text[index]
    if (character === '\\') index++
    else if (character === '[' && ++depth > maximumDepth) return -1
    else if (character === ']' && --depth === 0) return index + 1
    else if (character === '\n') return -1
  }
  return atEnd || text.length >= limit ? -1 : null
}

/** Tags that only change how text looks. Without attributes they name no address. */
const plainTags = new Set([
  'b',
  'br',
  'code',
  'del',
  'em',
  'i',
  'kbd',
  'mark',
  's',
  'small',
  'strong',
  'sub',
  'sup',
  'u',
])

type AngleBracket =
  | { type: 'text' }
  /** A tag without attributes that only changes how text looks. */
  | { type: 'tag'; length: number }
  /** Any other tag, comment or declaration. */
  | { type: 'markup' }
  | { type: 'autolink'; length: number; target: string }

/** What the `<` at the beginning of `text` opens; null where more text is needed. */
export function readAngleBracket(text: string, atEnd: boolean): AngleBracket | null {
  const window = text.slice(0, maximumSyntaxLength)
  const whole = atEnd || window.length === maximumSyntaxLength
  const autolink = /^<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)(>?)/.exec(window)
  if (autolink) {
    if (autolink[2] === '>') return { type: 'autolink', length: autolink[0].length, target: autolink[1]! }
    return autolink[0].length === window.length && !whole ? null : { type: 'text' }
  }
  const tag = /^<\/?([A-Za-z][A-Za-z0-9-]*) {0,4}\/?>/.exec(window)
  if (tag) return plainTags.has(tag[1]!.toLowerCase()) ? { type: 'tag', length: tag[0].length } : { type: 'markup' }
  const opening = /^<\/?(?:[A-Za-z][A-Za-z0-9+.-]*)? {0,4}\/?/.exec(window)![0]
  if (opening.length === window.length && !whole) return null
  return /^<(?:[!?]|\/?[A-Za-z][A-Za-z0-9-]*[\s/>])/.test(window) ? { type: 'markup' } : { type: 'text' }
}
