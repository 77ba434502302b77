import { expect, test } from 'vitest'
import { IncomingBody } from './incoming-body.ts'

const controller = { paused: false, pause() {}, resume() {}, abort() {} } as never

test('reads of one organisation delay those of another by one each, however many arrive at once', async () => {
  const order: string[] = []
  function read(organisation: string) {
    const incoming = new IncomingBody(
      { owner: organisation, signal: new AbortController().signal, maximumBytes: 1_000, onClosed() {} },
      () => {},
    )
    async function readAll() {
      for await (const _ of incoming) {
        order.push(organisation)
        const untilMs = performance.now() + 2
        while (performance.now() < untilMs);
      }
    }
    return { incoming, reading: readAll() }
  }
  const bodies = [...Array.from({ length: 60 }, () => read('flood')), read('other')]
  for (const { incoming } of bodies) {
    incoming.take(controller, new Uint8Array(10))
    incoming.end()
  }
  await Promise.all(bodies.map(({ reading }) => reading))
  expect(order).toHaveLength(61)
  expect(order.indexOf('other')).toBeLessThan(40)
})
