import { spaceToolLimits } from '../../contract/space-tools.ts'
import { type NetworkRule, publicNetworks, invalidField } from '../../platform/kernel/index.ts'

/** Where tool servers may be. */
export interface ToolNetwork {
  /** Of https addresses: the public internet and the networks of the setting. */
  rule: NetworkRule
  /** Of http addresses: only the private networks of the setting. */
  plainRule: NetworkRule
  allowsPlain: boolean
}

/** `allowed`: of the setting `network.toolNetworks`. */
export function toolNetwork(allowed: readonly string[]): ToolNetwork {
  const rule = publicNetworks(allowed)
  const isPublic = publicNetworks()
  const plainRule: NetworkRule = {
    refusal: (address) =>
      isPublic.refusal(address) === undefined ? 'a public address without encryption' : rule.refusal(address),
    hostRefusal: (hostname) => {
      const refusal = rule.hostRefusal(hostname)
      if (refusal !== undefined) return refusal
      const address = hostname.replace(/^\[(.*)\]$/, '$1')
      const isName = isPublic.refusal(address) === 'no IP address'
      return isName ? undefined : plainRule.refusal(address)
    },
  }
  return { rule, plainRule, allowsPlain: allowed.length > 0 }
}

/** The address of a tool server, without a `/` at its end where it is that of a file. Throws `invalid_request`. */
export function parseToolAddress(text: string, network: ToolNetwork): URL {
  const url = URL.parse(text.trim())
  const isUsable =
    url !== null &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === '' &&
    url.href.length <= spaceToolLimits.url &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && network.allowsPlain))
  if (!isUsable)
    throw invalidField(
      'url',
      `\`url\` must be an https address without user name, query and fragment, of at most ${spaceToolLimits.url} characters.`,
    )
  const rule = url.protocol === 'https:' ? network.rule : network.plainRule
  if (rule.hostRefusal(url.hostname) !== undefined)
    throw invalidField(
      'url',
      '`url` must be on the public internet or in a network of the setting network.toolNetworks.',
    )
  return url
}
