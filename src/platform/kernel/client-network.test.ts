import { describe, expect, test } from 'vitest'
import { clientNetwork } from './network-rule.ts'

const spellings: Record<string, string[]> = {
  '203.0.113.7': [
    '203.0.113.7',
    ' 203.0.113.7 ',
    '203.0.113.7:49152',
    '::ffff:203.0.113.7',
    '::FFFF:203.0.113.7',
    '::ffff:cb00:7107',
    '0:0:0:0:0:ffff:cb00:7107',
    '0000:0000:0000:0000:0000:ffff:203.0.113.7',
    '[::ffff:203.0.113.7]:443',
    '64:ff9b::203.0.113.7',
    '64:ff9b::cb00:7107',
  ],
  '2001:db8:0:1::/64': [
    '2001:db8:0:1::1',
    '2001:DB8:0:1::1',
    '2001:0db8:0000:0001:0000:0000:0000:0001',
    '2001:db8::1:0:0:0:1',
    '2001:db8:0:1:ffff:ffff:ffff:ffff',
    '[2001:db8:0:1::1]',
    '[2001:db8:0:1::1]:8080',
    '2001:db8:0:1::198.51.100.1',
  ],
  '2001:db8:0:2::/64': ['2001:db8:0:2::1'],
  '64:ff9b:1:0::/64': ['64:ff9b:1::203.0.113.7'],
  'fe80:0:0:0::/64': ['fe80::1', 'fe80::1%eth0', 'fe80::2%1'],
  '0:0:0:0::/64': ['::1', '::', '0:0:0:0:0:0:0:1'],
  unknown: ['', 'localhost', '203.0.113', '203.0.113.007', '0xcb007107', '1:2', '[::1', ':::', '12345::1', 'a\u0000b'],
}

describe('the network of a client', () => {
  test.each(Object.entries(spellings))('%s is the same for every spelling', (network, addresses) => {
    expect(addresses.map((address) => [address, clientNetwork(address)])).toEqual(
      addresses.map((address) => [address, network]),
    )
  })
})
