import { type WebSourceErrorCode, webSourceLimits } from '../../../contract/web-sources.ts'
import { type NetworkRule, readAtMost, invalidField } from '../../../platform/kernel/index.ts'
import type { Failure, WebSource } from './web-source.ts'

export interface AddressRule {
  network: NetworkRule
  /** Also other ports than 80 and 443. */
  anyPort: boolean
}

/** Whether the address may be read. The connection judges the addresses that a name resolves to. */
export function isReadable(url: URL, { network, anyPort }: AddressRule): boolean {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return false
  if (url.username !== '' || url.password !== '' || url.href.length > webSourceLimits.urlLength) return false
  if (!anyPort && url.port !== '' && url.port !== '80' && url.port !== '443') return false
  return network.hostRefusal(url.hostname) === undefined
}

/** The address of a request, without fragment. Throws AppError. */
export function parseAddress(text: string, param: 'url' | 'sitemap', rule: AddressRule): URL {
  const url = URL.parse(text.trim())
  if (url) url.hash = ''
  if (url && isReadable(url, rule)) return url
  throw invalidField(
    param,
    `${param}: must be a public http or https address without credentials, with the port 80 or 443 and at most ${webSourceLimits.urlLength} characters.`,
  )
}

export interface AddressReader {
  /** Connects only to what the network rule accepts. */
  fetch: typeof fetch
  rule: AddressRule
  userAgent: string
  /** Longest time of one reading, redirects included. */
  timeoutMs: number
}

export interface WebContent {
  kind: 'content'
  bytes: Buffer
  /** After redirects. */
  url: URL
  /** The media type in lower case, without parameters. */
  mimeType: string
  charset: string | undefined
  etag: string | null
  lastModified: string | null
}

export type AddressAnswer = WebContent | { kind: 'unchanged' } | { kind: 'gone' } | ({ kind: 'failed' } & Failure)

const maximumRedirects = 5
/** Longest header that is kept. */
const maximumValidatorLength = 1_000

/**
 * Reads an address, without its content if it did not change. The answer names no detail of a network, so that it is of no use for looking at
 * hosts and ports. Throws only the reason of `signal`.
 */
export async function readAddress(
  reader: AddressReader,
  source: Pick<WebSource, 'url' | 'etag' | 'lastModified'>,
  signal: AbortSignal,
): Promise<AddressAnswer> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(reader.timeoutMs)])
  try {
    return await follow(reader, source, limited)
  } catch {
    signal.throwIfAborted()
    return failed('unreachable', 'The address could not be read: its host did not answer in time, or not at all.')
  }
}

const failed = (code: WebSourceErrorCode, message: string): AddressAnswer => ({
  kind: 'failed',
  code,
  message,
  isPermanent: code !== 'unreachable',
})

async function follow(
  { fetch, rule, userAgent }: AddressReader,
  { url: start, etag, lastModified }: Pick<WebSource, 'url' | 'etag' | 'lastModified'>,
  signal: AbortSignal,
): Promise<AddressAnswer> {
  const headers = {
    'user-agent': userAgent,
    accept: '*/*',
    ...(etag !== null && { 'if-none-match': etag }),
    ...(lastModified !== null && { 'if-modified-since': lastModified }),
  }
  let url = new URL(start)
  for (let redirects = 0; redirects <= maximumRedirects; redirects++) {
    if (!isReadable(url, rule)) return failed('address_refused', 'The address leads to one that must not be read.')
    const response = await fetch(url.href, { redirect: 'manual', headers, signal })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || response.status === 304 || location === null) {
      return readResponse(response, url)
    }
    await response.body?.cancel()
    const next = URL.parse(location, url.href)
    if (!next) return failed('address_refused', 'The address leads to one that is not valid.')
    if (url.protocol === 'https:' && next.protocol === 'http:') {
      return failed('address_refused', 'The address leads from https to http.')
    }
    url = next
  }
  return failed('too_many_redirects', `The address has more than ${maximumRedirects} redirects.`)
}

async function readResponse(response: Response, url: URL): Promise<AddressAnswer> {
  const { status, headers } = response
  if (status === 200) return readContent(response, url)
  await response.body?.cancel()
  if (status === 304) return { kind: 'unchanged' }
  if (status === 404 || status === 410) return { kind: 'gone' }
  const message = `The host answered with the status ${status}.`
  const isTemporary = status === 408 || status === 425 || status === 429 || status >= 500
  return {
    kind: 'failed',
    code: 'refused_by_host',
    message,
    isPermanent: !isTemporary,
    ...retryAfterOf(headers.get('retry-after')),
  }
}

function retryAfterOf(header: string | null): { retryAfterMs?: number } {
  return header !== null && /^\d{1,7}$/.test(header) ? { retryAfterMs: Number(header) * 1000 } : {}
}

async function readContent(response: Response, url: URL): Promise<AddressAnswer> {
  const { headers } = response
  const { pageBytes } = webSourceLimits
  // Decoded bytes: a small packed answer may become a large one.
  const bytes = await readAtMost(response.body, pageBytes)
  if (!bytes) return failed('too_large', `The content is larger than ${pageBytes} bytes.`)
  const [mimeType = ''] = (headers.get('content-type') ?? '').split(';')
  return {
    kind: 'content',
    bytes,
    url,
    mimeType: mimeType.trim().toLowerCase(),
    charset: /;\s*charset="?([\w.:-]{1,40})"?/i.exec(headers.get('content-type') ?? '')?.[1],
    etag: validator(headers.get('etag')),
    lastModified: validator(headers.get('last-modified')),
  }
}

const validator = (header: string | null) =>
  header !== null && header.length <= maximumValidatorLength ? header : null
