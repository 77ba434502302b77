import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAppError } from '../kernel/index.ts'
import { type BodyLimits, type BodyShape, scanJson } from './body-reader.ts'

const anything: BodyLimits = { shape: {}, maximumValues: 1_000_000 }

function scan(text: string, limits: BodyLimits = anything) {
  const bytes = Buffer.from(text)
  const { length, ignored } = scanJson(bytes, limits)
  return { text: bytes.toString('utf8', 0, length), ignored }
}

const isAccepted = (read: () => unknown) => {
  try {
    read()
    return true
  } catch {
    return false
  }
}

function refusal(text: string, limits?: BodyLimits) {
  try {
    scan(text, limits)
  } catch (error) {
    if (isAppError(error)) return { message: error.message, param: error.param }
  }
  throw new Error('accepted')
}

describe('the scan of a JSON text', () => {
  it('accepts exactly what JSON.parse accepts', () => {
    // Pieces of JSON in any order: mostly wrong, often nearly right.
    const pieces = fc.constantFrom(
      ...'{}[],:" \n0123-.eE+',
      'true',
      'null',
      'fals',
      '"a"',
      '"\\u00e9"',
      '"\\x"',
      '\u0001',
      'é',
      '\\',
    )
    const texts = fc.oneof(
      fc.json({ maxDepth: 5 }),
      fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
      fc
        .json({ maxDepth: 3 })
        .chain((json) => fc.nat(json.length).map((cut) => json.slice(0, cut) + json.slice(cut + 1))),
    )
    fc.assert(
      fc.property(texts, (text) => {
        expect(
          isAccepted(() => scan(text)),
          text,
        ).toBe(isAccepted(() => JSON.parse(text)))
      }),
      { numRuns: 5_000 },
    )
  })

  it('cuts out exactly the members that are not read, and names them', () => {
    const names = fc.constantFrom('a', 'b', 'x', 'y', '__proto__', 'constructor')
    const members = fc.array(fc.tuple(names, fc.jsonValue({ maxDepth: 2 })), { maxLength: 8 })
    const inner: BodyShape = { members: new Map([['a', {}]]) }
    const limits: BodyLimits = {
      shape: {
        members: new Map([
          ['a', {}],
          ['b', { items: inner }],
        ]),
      },
      maximumValues: 1000,
    }
    const object = (pairs: [string, string][], gap: string) =>
      `{${gap}${pairs.map(([name, json]) => `${JSON.stringify(name)}${gap}:${gap}${json}`).join(`${gap},${gap}`)}${gap}}`
    fc.assert(
      fc.property(
        members,
        fc.array(members, { maxLength: 3 }),
        fc.constantFrom('', ' ', '\n '),
        (outer, items, gap) => {
          const json = (pairs: [string, unknown][]) =>
            pairs.map(([name, value]) => [name, JSON.stringify(value)] as [string, string])
          const list = `[${items.map((pairs) => object(json(pairs), gap)).join(',')}]`
          const text = object(
            [...json(outer.filter(([name]) => name !== 'b')), ['b', list], ['x', '{"deep":[1]}']],
            gap,
          )
          const scanned = scan(text, limits)
          const kept = JSON.parse(scanned.text) as Record<string, unknown>
          const full = JSON.parse(text) as { a?: unknown; b: { a?: unknown }[] }
          expect(Object.keys(kept).every((name) => name === 'a' || name === 'b')).toBe(true)
          expect(kept['a']).toEqual(full.a)
          expect(kept['b']).toEqual(full.b.map((item) => ('a' in item ? { a: item.a } : {})))
          const dropped = [...Object.keys(full), ...items.flatMap((pairs) => pairs.map(([name]) => `b.${name}`))]
          expect(new Set(scanned.ignored)).toEqual(new Set(dropped.filter((name) => !['a', 'b', 'b.a'].includes(name))))
        },
      ),
    )
  })

  it('names the field and the limit of too many entries, members, values and levels', () => {
    const shape: BodyShape = {
      members: new Map<string, BodyShape>([
        ['list', { maximumItems: 3, items: { members: new Map([['parts', { maximumItems: 2 }]]) } }],
        ['pairs', { maximumMembers: 2 }],
      ]),
    }
    const limits = { shape, maximumValues: 12 }
    expect(refusal('{"list":[1,2,3,4]}', limits)).toEqual({
      message: '`list` must have at most 3 entries.',
      param: 'list',
    })
    expect(refusal('{"list":[0,{"parts":[1,2,3]}]}', limits)).toMatchObject({ param: 'list.1.parts' })
    expect(refusal('{"pairs":{"a":1,"b":2,"a":3}}', limits)).toEqual({
      message: '`pairs` must have at most 2 pairs.',
      param: 'pairs',
    })
    expect(refusal('{"pairs":{"a":[1,2,3,4,5,6,7,8,9,10,11]}}', limits).message).toMatch(/at most 12 values/)
    const deep = '['.repeat(32) + ']'.repeat(32)
    expect(scan(deep).text).toBe(deep)
    expect(refusal(`{"a":${deep}}`)).toEqual({ message: '`a` must be nested at most 32 levels deep.', param: 'a' })
    expect(refusal(`{"ignored":${deep}}`, limits)).toMatchObject({ param: 'ignored' })
  })

  it('skips a field that is not read at no cost in values', () => {
    const limits = { shape: { members: new Map() }, maximumValues: 1 }
    expect(scan(`{"x":[${'{},'.repeat(10_000)}1]}`, limits)).toEqual({ text: '{}', ignored: ['x'] })
  })
})
