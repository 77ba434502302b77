import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectLinear } from '../../../test/harness/timing.ts'
import { SseParser, formatSseEvent, SseTooLargeError } from './sse.ts'

const parse = (bytes: Uint8Array, cuts: number[] = []) => {
  const parser = new SseParser({ maximumEventBytes: 1000 })
  const borders = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]
  const events = borders.slice(1).flatMap((end, index) => [...parser.push(bytes.slice(borders[index], end))])
  return [...events, ...parser.end()]
}
const encode = (text: string) => new TextEncoder().encode(text)

describe('server-sent events', () => {
  it('are read with LF, CRLF and CR, comments, names, several data lines and a byte order mark', () => {
    const text =
      '\uFEFF: hello\r\nevent: one\r\ndata: a\r\ndata: b\r\n\r\ndata:c\n\ndata: d\r\rid: 5\n\nevent: last\ndata: e'
    expect(parse(encode(text))).toEqual([
      { event: 'one', data: 'a\nb' },
      { event: 'message', data: 'c' },
      { event: 'message', data: 'd' },
      { event: 'last', data: 'e' },
    ])
  })

  it('do not depend on where the bytes are cut', () => {
    const line = fc.constantFrom('data: ü😀', 'event: x', ': note', 'data:', '', '', 'data: {"a":"b"}', 'retry: 5')
    const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 20 })
    fc.assert(
      fc.property(lines, fc.array(fc.nat({ max: 200 })), (parts, cuts) => {
        const bytes = encode(parts.map(([text, end]) => text + end).join(''))
        expect(parse(bytes, cuts)).toEqual(parse(bytes))
      }),
    )
  })

  it('come back as they were formatted', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const data = JSON.stringify(text)
        expect(parse(encode(formatSseEvent(data, 'name')))).toEqual([{ event: 'name', data }])
      }),
    )
  })

  it('above the limit are refused, in one line or in many', () => {
    expect(() => parse(encode(`data: ${'x'.repeat(2000)}`))).toThrow(SseTooLargeError)
    expect(() => parse(encode('data: xxxxxxxxxx\n'.repeat(200)))).toThrow(SseTooLargeError)
  })

  it('of a large read cost time in proportion to its size', async () => {
    const read = (events: number) => {
      const bytes = encode('data: 0123456789\n\n'.repeat(events))
      expect([...new SseParser({ maximumEventBytes: 1e9 }).push(bytes)]).toHaveLength(events)
    }
    await expectLinear(read, 25_000)
  })
})
