import { describe, expect, test } from 'vitest'
import { notMetadata, publicNetworks } from './network-rule.ts'

const metadata = [
  'http://169.254.169.254/latest/meta-data',
  'http://169.254.170.2/',
  'http://2852039166/',
  'http://0xa9.0xfe.0xa9.0xfe/',
  'http://0251.0376.0251.0376/',
  'http://169.254.43518/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[64:ff9b::169.254.169.254]/',
  'http://[2002:a9fe:a9fe::]/',
  'http://100.100.100.200/',
  'http://168.63.129.16/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://METADATA.google.internal./',
  'http://①⑥⑨.254.169.254/',
]
const privateAddresses = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://017700000001/',
  'http://0/',
  'http://10.1.2.3/',
  'http://100.64.0.1/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://198.18.0.1/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://[::]/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001:0:7f00:1::]/',
  'http://[fd12:3456::1]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
]
const publicAddresses = [
  'http://93.184.216.34/',
  'http://172.32.0.1/',
  'http://[2606:4700::1111]/',
  'http://example.org/',
]

const hostOf = (url: string) => new URL(url).hostname

describe('a rule for addresses that operators configure', () => {
  test.each(metadata)('refuses %s', (url) => {
    expect(notMetadata.hostRefusal(hostOf(url))).toBe('a link-local or metadata address')
  })
  test.each([...privateAddresses, ...publicAddresses])('allows %s', (url) => {
    expect(notMetadata.hostRefusal(hostOf(url))).toBeUndefined()
  })
})

describe('a rule for the public internet', () => {
  const rule = publicNetworks()
  test.each([...metadata, ...privateAddresses])('refuses %s', (url) => {
    expect(rule.hostRefusal(hostOf(url))).toMatch(/^a (?:private or reserved|link-local or metadata) address$/)
  })
  test.each(publicAddresses)('allows %s', (url) => {
    expect(rule.hostRefusal(hostOf(url))).toBeUndefined()
  })
  test('allows listed networks, but no metadata service in them', () => {
    const listed = publicNetworks(['10.0.0.0/8', '127.0.0.1', 'fd12::/16', '169.254.0.0/16', '0.0.0.0/0'])
    const judged = ['10.1.2.3', '127.0.0.1', '::ffff:10.1.2.3', 'fd12::1', 'fd13::1', '169.254.169.254']
    expect(judged.map((address) => listed.refusal(address) === undefined)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ])
  })
  test('refuses what is no address', () => {
    expect(rule.refusal('example.org')).toBe('no IP address')
  })
})
