import type { LookupFunction } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { createNameCheck, type NameCheckOptions } from './name-check.ts'

const { signal } = new AbortController()
const addresses: Record<string, string[]> = {
  'public.example': ['93.184.215.14', '2606:2800:21f::1'],
  'private.example': ['10.0.0.5'],
  'loopback.example': ['::1'],
  'link.example': ['fe80::1'],
  'metadata.example': ['169.254.169.254'],
  'both.example': ['93.184.215.14', '192.168.0.1'],
  'empty.example': [],
}

function arrange(options: Partial<NameCheckOptions> = {}) {
  const clock = createFakeClock()
  const asked: string[] = []
  const lookup: LookupFunction = (name, _options, callback) => {
    asked.push(name)
    const found = addresses[name] ?? (name.endsWith('.public.example') ? addresses['public.example'] : undefined)
    if (found)
      callback(
        null,
        found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    else callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), [], 0)
  }
  const names = createNameCheck({ clock, lookup, passesUnknown: false, ...options })
  const refused = (...hosts: string[]) => names.findRefused(hosts, { tenant: 'a', signal })
  return { clock, asked, names, refused }
}

/** Lookups that end when `answer` is called. */
function hangingLookups() {
  const waiting = new Map<string, () => void>()
  const lookup: LookupFunction = (name, _options, callback) =>
    void waiting.set(name, () => callback(null, [{ address: '93.184.215.14', family: 4 }]))
  return { lookup, waiting }
}

describe('the names of hosts', () => {
  test.each(['private', 'loopback', 'link', 'metadata', 'both', 'empty', 'unknown'])(
    'are refused: %s.example',
    async (name) => {
      expect(await arrange().refused('public.example', `${name}.example`)).toBe(`${name}.example`)
    },
  )

  test('of the public internet pass, and literal addresses are not looked up', async () => {
    const { refused, asked } = arrange()
    expect(await refused('public.example', '93.184.215.14', '[2606:2800:21f::1]')).toBeUndefined()
    expect(asked).toEqual(['public.example'])
  })

  test('that this machine does not know pass behind a proxy, which resolves them; private ones do not', async () => {
    const { refused } = arrange({ passesUnknown: true })
    expect(await refused('unknown.example')).toBeUndefined()
    expect(await refused('private.example')).toBe('private.example')
  })

  test('are resolved once a minute, for at most 1,000 names', async () => {
    const { refused, asked, clock } = arrange()
    await Promise.all([refused('public.example'), refused('public.example')])
    await clock.advance(59_000)
    await refused('public.example')
    expect(asked).toHaveLength(1)
    await clock.advance(1_000)
    await refused('public.example')
    expect(asked).toHaveLength(2)
    for (let index = 0; index < 999; index++) await refused(`${index}.public.example`)
    await refused('public.example')
    expect(asked).toHaveLength(1_001)
    await refused('last.public.example')
    await refused('public.example')
    expect(asked).toHaveLength(1_003)
  })

  test('without an answer in time are refused, and the answer counts for the next request', async () => {
    const { lookup, waiting } = hangingLookups()
    const { refused } = arrange({ lookup, longestMs: 1 })
    expect(await refused('slow.example')).toBe('slow.example')
    waiting.get('slow.example')!()
    expect(await refused('slow.example')).toBeUndefined()
  })

  test('of one organisation occupy half of the lookups', async () => {
    const { lookup, waiting } = hangingLookups()
    const { names } = arrange({ lookup })
    const flood = ['a', 'b', 'c'].map((name) => names.findRefused([`${name}.example`], { tenant: 'flood', signal }))
    const other = names.findRefused(['other.example'], { tenant: 'other', signal })
    await Promise.resolve()
    expect([...waiting.keys()]).toEqual(['a.example', 'other.example'])
    waiting.get('other.example')!()
    expect(await other).toBeUndefined()
    for (const [index, name] of ['a', 'b', 'c'].entries()) {
      waiting.get(`${name}.example`)!()
      expect(await flood[index]).toBeUndefined()
    }
  })

  test('are not waited for by a client that has left', async () => {
    const { lookup } = hangingLookups()
    const { names } = arrange({ lookup })
    const gone = new AbortController()
    const found = names.findRefused(['slow.example'], { tenant: 'a', signal: gone.signal })
    gone.abort(new Error('left'))
    await expect(found).rejects.toThrow('left')
  })
})
