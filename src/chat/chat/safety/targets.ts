import { createTimeSlices } from '../../../platform/kernel/index.ts'

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
