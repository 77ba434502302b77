import { BlockList, isIP } from 'node:net'

/** Which addresses a connection of the service may have. Names are judged by the addresses that they resolve to. */
export interface NetworkRule {
  /** What kind of address this is, if it is refused: `a private address`. An address that is not understood is refused. */
  refusal(address: string): string | undefined
  /** The same for a host of a URL, which may be a name: undefined for most names, whose addresses only the connection shows. */
  hostRefusal(hostname: string): string | undefined
}

/** Services of cloud platforms that hand out the credentials of the machine to every caller on it. */
const metadataNetworks = [
  '169.254.0.0/16', // AWS, Azure, Google, Oracle, OpenStack, DigitalOcean; also the rest of link-local
  'fe80::/10',
  'fd00:ec2::/32', // AWS over IPv6
  '64:ff9b::169.254.0.0/112', // through NAT64
  '2002:a9fe::/32', // through 6to4
  '100.100.100.200/32', // Alibaba
  '168.63.129.16/32', // Azure
  '192.0.0.192/32', // Oracle
]
const metadataNames = /^(?:metadata\.google\.internal|metadata\.goog|instance-data(?:\.ec2\.internal)?)\.?$/i

/** Networks that are not the public internet: RFC 6890 and the registries of special-purpose addresses. */
const privateNetworks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3', // multicast, reserved and broadcast
  // Only 2000::/3 has public addresses of IPv6; these are its reserved parts and what is outside.
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23', // Teredo, ORCHID and others
  '2001:db8::/32',
  '2002::/16', // 6to4: an IPv4 address in the middle
  '3fff::/20',
]

/** Everything but the metadata services of clouds: for addresses that operators configure, which are often private. */
export const notMetadata: NetworkRule = createRule({ isPublicOnly: false, allowed: [] })

/** Only the public internet and the `allowed` networks. Metadata services are refused even if they are in one of these. */
export function publicNetworks(allowed: readonly string[] = []): NetworkRule {
  return createRule({ isPublicOnly: true, allowed })
}

function createRule({ isPublicOnly, allowed }: { isPublicOnly: boolean; allowed: readonly string[] }): NetworkRule {
  const metadata = createNetworks(metadataNetworks)
  const notPublic = createNetworks(privateNetworks)
  const listed = createNetworks(allowed)
  const refusal = (address: string) => {
    if (isIP(address) === 0) return 'no IP address'
    if (metadata.has(address)) return 'a link-local or metadata address'
    return isPublicOnly && notPublic.has(address) && !listed.has(address) ? 'a private or reserved address' : undefined
  }
  return {
    refusal,
    hostRefusal(hostname) {
      if (metadataNames.test(hostname)) return 'a link-local or metadata address'
      // URLs have IPv6 addresses in brackets. Their parser has turned octal, hexadecimal and short IPv4 addresses into the usual form.
      const address = hostname.replace(/^\[(.*)\]$/, '$1')
      return isIP(address) === 0 ? undefined : refusal(address)
    },
  }
}

/** One list for each version: a list compares IPv4 addresses with networks of IPv6 as well. */
function createNetworks(networks: readonly string[]) {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList(), mapped: new BlockList() }
  lists.mapped.addSubnet('::ffff:0:0', 96, 'ipv6')
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const version = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    lists[version].addSubnet(address, bits === undefined ? (version === 'ipv6' ? 128 : 32) : Number(bits), version)
  }
  return {
    has(address: string): boolean {
      if (isIP(address) === 4) return lists.ipv4.check(address, 'ipv4')
      // An IPv4-mapped address (::ffff:10.0.0.1) is connected to over IPv4, and the list reads it so.
      return (lists.mapped.check(address, 'ipv6') ? lists.ipv4 : lists.ipv6).check(address, 'ipv6')
    },
  }
}

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
