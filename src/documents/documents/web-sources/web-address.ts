import { webSourceLimits } from '../../../contract/web-sources.ts'
import { AppError, type NetworkRule } from '../../../platform/kernel/index.ts'

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
  throw new AppError(
    'invalid_request',
    `${param}: must be a public http or https address without credentials, with the port 80 or 443 and at most ${webSourceLimits.urlLength} characters.`,
    { param },
  )
}
