import { PassThrough, Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { createBodyBudget } from './load.ts'
import { ArrivingBody, createBodies, shareReading } from './read-bodies.ts'
import type { Visit } from './visit.ts'

const kibibyte = 1024
const chunk = Buffer.alloc(64 * kibibyte)

/** Reads a body whose chunks are all there. Resolves to its bytes, and to the most that were read in one turn of the event loop. */
function readBody(chunks: number): Promise<{ bytes: number; mostPerTurn: number }> {
  const arriving = new ArrivingBody(undefined)
  const source = Readable.from(Array.from({ length: chunks }, () => chunk))
  let mostPerTurn = 0
  let before = 0
  source.on('data', (bytes: Buffer) => {
    arriving.push(bytes)
    shareReading(source, arriving, 'organisation')
  })
  return new Promise((resolve) => {
    const endTurn = () => {
      mostPerTurn = Math.max(mostPerTurn, arriving.bytes - before)
      before = arriving.bytes
      if (source.readableEnded) resolve({ bytes: arriving.bytes, mostPerTurn })
      else setImmediate(endTurn)
    }
    setImmediate(endTurn)
  })
}

it('leaves turns to other work while a large body arrives', async () => {
  const { bytes, mostPerTurn } = await readBody(256)
  expect(bytes).toBe(256 * chunk.length)
  expect(mostPerTurn).toBeLessThan(bytes / 4)
})

it('reads a usual body at once', async () => {
  const { bytes, mostPerTurn } = await readBody(4)
  expect(mostPerTurn).toBe(bytes)
})

it('answers one of two bodies that are together more than their organisation may send', async () => {
  const budget = createBodyBudget(200)
  const bodies = createBodies({
    admit: () => {},
    slowBodies: { watch: () => () => {} },
    threads: {} as never,
  })
  const send = () => {
    const source = new PassThrough()
    const visit = {
      raw: source,
      account: budget.open('one'),
      route: { maximumBodyBytes: 100 },
      organisation: { id: 'one' },
    }
    const body = bodies.read(visit as never as Visit, source, { reader: undefined, format: 'json' })
    return { source, body: body.catch((error: unknown) => error) }
  }
  const [first, second] = [send(), send()]
  for (const { source } of [first, second]) source.write(`{"text":"${'x'.repeat(30)}`)
  for (const { source } of [first, second]) source.end(`${'x'.repeat(40)}"}`)
  expect(await first.body).toMatchObject({ code: 'rate_limit_exceeded' })
  expect(await second.body).toEqual({ text: 'x'.repeat(70) })
})
