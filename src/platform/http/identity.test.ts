import { describe, expect, test } from 'vitest'
import { assertSameSite } from './identity.ts'

interface Given {
  host?: string
  protocol?: 'http' | 'https'
  site?: string
  publicUrl?: string
}

/** Whether a change with this `Origin` is of this site. */
function isOwn(
  origin: string | undefined,
  { host = 'portico.example:8080', protocol = 'http', site, publicUrl }: Given = {},
) {
  const headers = { origin, 'sec-fetch-site': site }
  try {
    assertSameSite({ method: 'POST', headers, host, protocol }, publicUrl)
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 'cross_site_request' })
    return false
  }
}

describe('the origin of a change', () => {
  test('may be the address under which the client reached this server', () => {
    expect(isOwn('http://portico.example:8080')).toBe(true)
    expect(isOwn('https://portico.example', { host: 'portico.example', protocol: 'https' })).toBe(true)
    expect(isOwn('https://portico.example', { host: 'Portico.example:443', protocol: 'https' })).toBe(true)
    expect(isOwn('http://[::1]:8080', { host: '[::1]:8080' })).toBe(true)
  })

  test.each([
    'http://user:password@portico.example:8080',
    'http://user@portico.example:8080',
    'http://@portico.example:8080',
    'https://portico.example:8080',
    'ftp://portico.example:8080',
    'ws://portico.example:8080',
    'file://portico.example:8080',
    'javascript://portico.example:8080',
    'chrome-extension://portico.example:8080',
    'blob:http://portico.example:8080/x',
    'http://portico.example',
    'http://portico.example:80',
    'http://portico.example:8081',
    'http://portico.example:08080',
    'http://portico.example:8080/',
    'http://portico.example:8080/page',
    'http://portico.example:8080?query',
    'http://portico.example:8080#part',
    'http://portico.example.:8080',
    'http://evil.portico.example:8080',
    'HTTP://portico.example:8080',
    'http://PORTICO.example:8080',
    'http:portico.example:8080',
    'http:\\\\portico.example:8080',
    '//portico.example:8080',
    'portico.example:8080',
    'http://portico.example:8080 http://evil.example',
    'http://portico.example:8080, http://evil.example',
    'null',
    '',
  ])('is refused in every other form: %j', (origin) => {
    expect(isOwn(origin)).toBe(false)
    expect(isOwn(origin, { publicUrl: 'https://public.example' })).toBe(false)
  })

  test('is refused for a host that no page can have', () => {
    for (const host of ['', 'a b', '%', '[::1', 'h:99999', 'h:-1'])
      for (const origin of ['null', `http://${host}`, 'undefined']) expect(isOwn(origin, { host })).toBe(false)
  })

  test('may be the public address, with its scheme only', () => {
    const publicUrl = 'https://public.example/'
    expect(isOwn('https://public.example', { publicUrl })).toBe(true)
    expect(isOwn('http://portico.example:8080', { publicUrl })).toBe(true)
    for (const host of ['public.example', 'Public.example:443', 'portico.example:8080'])
      for (const site of [undefined, 'same-origin'])
        expect(isOwn('http://public.example', { host, publicUrl, ...(site && { site }) })).toBe(false)
    expect(isOwn('https://user@public.example', { publicUrl })).toBe(false)
    expect(isOwn('https://public.example:8443', { publicUrl })).toBe(false)
  })

  test('may have https behind a proxy that ends TLS if the browser states that the page is of this site', () => {
    const origin = 'https://portico.example:8080'
    expect(isOwn(origin, { site: 'same-origin' })).toBe(true)
    for (const site of ['same-site', 'cross-site', 'none']) expect(isOwn(origin, { site })).toBe(false)
    expect(isOwn('https://portico.example:8443', { site: 'same-origin' })).toBe(false)
    expect(isOwn('https://user@portico.example:8080', { site: 'same-origin' })).toBe(false)
    expect(isOwn('http://portico.example:8080', { site: 'same-origin', protocol: 'https' })).toBe(false)
  })

  test('is not enough if the browser states another site, and may be absent if it states this one', () => {
    for (const site of ['same-site', 'cross-site', 'none'])
      for (const origin of ['http://portico.example:8080', undefined]) expect(isOwn(origin, { site })).toBe(false)
    expect(isOwn(undefined)).toBe(false)
    expect(isOwn(undefined, { site: 'same-origin' })).toBe(true)
  })
})
