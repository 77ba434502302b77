import { expect, test } from 'vitest'
import { parseToolAddress, toolNetwork } from './address.ts'

const usual = toolNetwork([])
const internal = toolNetwork(['10.1.0.0/16'])

test.each(['https://tools.example/mcp', 'https://tools.example:8443/', 'https://8.8.8.8/mcp'])(
  '%s is allowed',
  (url) => {
    expect(parseToolAddress(url, usual).href).toBe(url)
  },
)

test.each([
  'http://tools.example/',
  'https://127.0.0.1/',
  'https://[::1]/',
  'https://0x7f000001/',
  'https://10.0.0.1/',
  'https://169.254.169.254/latest',
  'https://metadata.google.internal/',
  'https://user:secret@tools.example/',
  'https://tools.example/?key=secret',
  'https://tools.example/#a',
  'ftp://tools.example/',
  'tools.example',
  `https://tools.example/${'a'.repeat(2_000)}`,
])('%s is refused', (url) => {
  expect(() => parseToolAddress(url, usual)).toThrow(/^`url` must be/)
})

test('http is for the private networks of the setting only', () => {
  expect(parseToolAddress('http://10.1.2.3:8080/', internal).port).toBe('8080')
  expect(() => parseToolAddress('http://10.2.2.3/', internal)).toThrow('toolNetworks')
  expect(() => parseToolAddress('http://8.8.8.8/', internal)).toThrow('toolNetworks')
  // A name shows its addresses at the connection.
  expect(parseToolAddress('http://crm.internal/', internal).hostname).toBe('crm.internal')
  expect(internal.plainRule.refusal('8.8.8.8')).toContain('without encryption')
  expect(internal.plainRule.refusal('10.1.2.3')).toBeUndefined()
  expect(internal.plainRule.refusal('127.0.0.1')).toBeDefined()
})
