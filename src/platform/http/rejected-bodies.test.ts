import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { App } from './route.ts'
import { createServer } from './server.ts'
import { serverOptions } from './testing/server-options.ts'

/** Rejected bodies of real clients; body-arrival.test.ts has which of them are read. */

let app: App

beforeAll(async () => {
  app = createServer({
    ...serverOptions(),
    routes: [(routes) => routes.post('/calls', { config: { auth: 'organisation' } }, async () => ({}))],
  })
  await app.listen({ port: 0 })
})
afterAll(() => app.close())

const bodyBytes = 1_000_000
const head = `POST /calls HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${bodyBytes}\r\n\r\n`

/** Sends two requests whose key is missing on one connection, each with its whole body. Resolves to the statuses. */
async function sendTwice(): Promise<string[]> {
  const socket = connect((app.server.address() as AddressInfo).port)
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
  const statuses = () => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status!)
  for (const expected of [1, 2]) {
    socket.write(head)
    socket.write(Buffer.alloc(bodyBytes, 'x'))
    while (statuses().length < expected) await once(socket, 'data')
  }
  socket.destroy()
  return statuses()
}

it('answers the next request on the connection of a rejected body, also when many are rejected', async () => {
  const statuses = await Promise.all(Array.from({ length: 40 }, sendTwice))
  expect(statuses).toEqual(Array.from({ length: 40 }, () => ['401', '401']))
})
