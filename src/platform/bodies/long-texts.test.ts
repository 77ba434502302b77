import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectCost } from '../../../test/harness/timing.ts'
import { joinTexts, JsonText } from './json-text.ts'
import { LongTexts } from './long-texts.ts'

function read(body: Buffer, cuts: readonly number[] = []): unknown {
  const texts = new LongTexts()
  let start = 0
  for (const cut of cuts.map((part) => Math.floor(part * body.length)).toSorted((a, b) => a - b)) {
    texts.push(body.subarray(start, cut))
    start = cut
  }
  texts.push(body.subarray(start))
  return texts.finish()
}

function textsOf(value: unknown): JsonText[] {
  if (value instanceof JsonText) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

/** Letters, escapes, white space, characters of one to four bytes, halves of surrogate pairs. */
const unit = fc.constantFrom(
  'a',
  'b c',
  '"',
  '\\',
  '/',
  '\n',
  '\u0001',
  ' ',
  '\u00a0',
  '\u3000',
  'é',
  '漢',
  '😀',
  '\ud83d',
)
const text = fc
  .array(fc.tuple(unit, fc.integer({ min: 1, max: 200 })), { minLength: 1, maxLength: 6 })
  .map((runs) => runs.map(([letters, count]) => letters.repeat(count)).join(''))
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })
const message = fc.record({
  role: fc.constantFrom('user', 'system'),
  content: fc.oneof(text, fc.array(fc.record({ text }))),
})
const body = fc.record({
  model: fc.string(),
  messages: fc.array(message, { maxLength: 5 }),
  other: fc.jsonValue({ maxDepth: 2 }),
})
/** Every character as an escape, as some clients send them. */
const escaped = (json: string) =>
  json.replaceAll(/[^\0-\x7f]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  )

describe('a body that is read while it arrives', () => {
  it('has the texts that JSON.parse reads, wherever its bytes are split', () => {
    fc.assert(
      fc.property(
        body,
        cuts,
        fc.constantFrom(JSON.stringify, (value: unknown) => escaped(JSON.stringify(value, null, 1))),
        (value, at, encode) => {
          const json = encode(value)
          const found = read(Buffer.from(json), at)
          expect(JSON.parse(JSON.stringify(found))).toEqual(JSON.parse(json))
          for (const long of textsOf(found)) {
            const whole = long.toString()
            expect(long.bytes).toBeGreaterThanOrEqual(256)
            expect(long.isBlank()).toBe(whole.trim() === '')
            expect(long.maximumTextBytes).toBeGreaterThanOrEqual(Buffer.byteLength(whole))
            expect(long.maximumCharacters).toBeGreaterThanOrEqual([...whole].length)
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('is never read where JSON.parse fails or the bytes are not UTF-8', () => {
    const byte = fc.oneof(fc.constantFrom(0x22, 0x5c, 0x00, 0x1f, 0x75, 0x80, 0xc3, 0xe2, 0xf0, 0xff), fc.nat(255))
    const changes = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), byte), { minLength: 1, maxLength: 3 })
    let unread = 0
    fc.assert(
      fc.property(body, changes, cuts, (value, changed, at) => {
        const bytes = Buffer.from(JSON.stringify(value))
        for (const [place, to] of changed) bytes[Math.floor(place * (bytes.length - 1))] = to
        const found = read(bytes, at)
        if (found === undefined) return void unread++
        const json = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
        expect(JSON.parse(JSON.stringify(found))).toEqual(JSON.parse(json))
      }),
      { numRuns: 2_000 },
    )
    expect(unread).toBeGreaterThan(500)
  })

  it('is left to other readers if it has a long name, too many texts, too much between them, or no end', () => {
    const long = 'x'.repeat(300)
    const unread = [
      { [long]: 1 },
      Array.from({ length: 9_000 }, () => ''),
      { a: long, b: Array.from({ length: 40_000 }, () => 1) },
      { a: { a: { a: { a: { a: { a: { a: { a: { a: long } } } } } } } } },
    ]
    for (const value of unread) expect(read(Buffer.from(JSON.stringify(value)))).toBeUndefined()
    for (const json of [`{"a":"${long}`, `{"a":"${long}","a":"${long}"}`, `\ufeff{"a":"${long}"}`, `"${long}" 1`])
      expect(read(Buffer.from(json))).toBeUndefined()
    expect(read(Buffer.from(`{"a":"${long}"}`))).toEqual({ a: expect.any(JsonText) })
  })
})

describe('a text of base64', () => {
  const readLiteral = (literal: string, places: readonly number[] = []) =>
    textsOf(read(Buffer.from(`{"text":"${literal}"}`), places))[0]!
  const data = 'QUJD'.repeat(100)

  it('differs from one with another byte, at each place of a step and of its rest', () => {
    for (let code = 0x20; code < 0x180; code++) {
      const character = String.fromCharCode(code)
      if (character === '"' || character === '\\') continue
      const isOfBase64 = /^[A-Za-z0-9+/=]$/.test(character)
      for (let at = 340; at < 380; at++) {
        const literal = data.slice(0, at) + character + data.slice(at + 1, 380)
        expect(readLiteral(literal).isBase64(), `${character} at ${at}`).toBe(isOfBase64)
      }
    }
  })

  it('is known behind the head of a data URL, however it arrives', () => {
    const base64 = fc
      .array(fc.constantFrom('QUJD', 'AB/+', '\\/', 'A', '='), { minLength: 1, maxLength: 100 })
      .map((parts) => parts.join('').repeat(20))
    const head = fc.array(fc.constantFrom(...'a:;,- é'), { maxLength: 200 }).map((characters) => characters.join(''))
    fc.assert(
      fc.property(fc.boolean(), head, base64, cuts, (isDataUrl, before, after, places) => {
        const literal = `${isDataUrl ? 'Data:' : ''}${before}${data}${after}`
        const [end] = /(?:[A-Za-z0-9+/=]|\\.)*$/.exec(literal)!
        const isAligned = end.replaceAll('\\', '').length % 4 !== 1
        const text = readLiteral(literal, places)
        expect(text.isBase64()).toBe(end === literal && isAligned)
        // Another text with a byte that is not of base64 is prose.
        if (!isDataUrl && end !== literal) return
        expect(text.counts.base64Bytes).toBe(end.length)
        expect(new JsonText([Buffer.from(end)], text.counts).isBase64()).toBe(isAligned)
      }),
    )
  })

  it('differs from one that is damaged behind the bytes of one scan', () => {
    const long = data.repeat(500)
    expect(readLiteral(long).isBase64()).toBe(true)
    for (const at of [65_535, 65_536, 199_999])
      expect(readLiteral(`${long.slice(0, at)}-${long.slice(at + 1)}`).isBase64()).toBe(false)
  })

  it('counts an escaped slash as one character, and has no other length and no long escape', () => {
    expect(readLiteral(`${data}AA\\/A`).isBase64()).toBe(true)
    expect(readLiteral(`${data}A`).isBase64()).toBe(false)
    expect(readLiteral(`${data}\\u0041AAA`).isBase64()).toBe(false)
  })

  it('is prose after many other bytes', () => {
    expect(readLiteral(`data:${'a b '.repeat(300)}${data}`).counts.base64Bytes).toBe(0)
    expect(readLiteral(`a ${data}`).counts.base64Bytes).toBe(0)
  })

  it('is read and checked in less time than it takes to decode it', async () => {
    const body = Buffer.from(`{"text":"${data.repeat(5_000)}"}`)
    await expectCost(
      () => expect(textsOf(read(body))[0]!.isBase64()).toBe(true),
      () => Buffer.from(body.toString('latin1'), 'base64'),
      2,
      'reading',
    )
  })
})

describe('texts that are joined', () => {
  it('are the text that strings make, within the bounds of its bytes and characters', () => {
    const separator = fc.constantFrom('', '\n\n')
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.boolean()), { maxLength: 4 }), separator, (texts, between) => {
        const joined = joinTexts(
          texts.map(([whole, isLong]) => (isLong ? JsonText.of(whole) : whole)),
          between,
        )
        const expected = texts.map(([whole]) => whole).join(between)
        expect(joined.toString()).toBe(expected)
        expect(joined instanceof JsonText).toBe(texts.some(([, isLong]) => isLong))
        if (!(joined instanceof JsonText)) return
        expect(joined.maximumTextBytes).toBeGreaterThanOrEqual(Buffer.byteLength(expected))
        expect(joined.maximumCharacters).toBeGreaterThanOrEqual([...expected].length)
      }),
      { numRuns: 500 },
    )
  })
})

describe('a sample of a text', () => {
  it('has windows of the whole text without its escapes', () => {
    const [long] = textsOf(read(Buffer.from(JSON.stringify(['one\ntwo é '.repeat(1_000)])))) as [JsonText]
    const { text: sampled, bytes } = long.sample(2_048, 256)
    expect(bytes).toBe(2_048)
    expect(sampled).toMatch(/one\ntwo é one\ntwo/)
    expect(sampled).not.toContain('\\n')
  })

  it('is all of a short text', () => {
    const [long] = textsOf(read(Buffer.from(JSON.stringify(['é\n'.repeat(150)])))) as [JsonText]
    expect(long.sample(2_048, 256).text).toBe('é\n'.repeat(150))
  })
})
