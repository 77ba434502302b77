import { isIP } from 'node:net'

/** All texts that are not an address: they share one limit. */
const unknownNetwork = 'unknown'

/**
 * The network that limits count instead of a client's address, the same for every spelling of it. An IPv4 address counts alone, also inside
 * IPv6 (`::ffff:203.0.113.7`). An IPv6 address counts as its /64, because one client can use all addresses of that. Proxies may add a port or
 * a zone to the address.
 */
export function clientNetwork(address: string): string {
  const plain = withoutPort(address.trim())
  if (isIP(plain) === 4) return plain
  if (isIP(plain) !== 6) return unknownNetwork
  const groups = groupsOf(plain)
  const prefix = groups.slice(0, 6).join(':')
  if (prefix === '0:0:0:0:0:ffff' || prefix === '64:ff9b:0:0:0:0') return ipv4Of(groups.slice(6))
  return `${groups.slice(0, 4).join(':')}::/64`
}

function withoutPort(address: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(address)
  return bracketed?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(address)?.[1] ?? address
}

/** The eight groups of an IPv6 address in lower case without leading zeros. The parser of URLs writes IPv4 parts as groups. */
function groupsOf(address: string): string[] {
  const canonical = new URL(`http://[${address.split('%', 1)[0]}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = canonical.split('::').map((part) => part.split(':').filter(Boolean))
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}

function ipv4Of(groups: readonly string[]): string {
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((value) => [value >> 8, value & 255])
    .join('.')
}
