import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { limitArrivals } from './load.ts'

/** Many connections on which requests arrive at once. */

const clients = 600

/** Answers after it has noted how many requests each turn of the event loop had. */
async function startServer() {
  const perTurn: number[] = []
  let inTurn = 0
  const order: (string | undefined)[] = []
  const server = createServer()
  const arrivals = limitArrivals(server)
  server.on('request', (request: IncomingMessage, response) => {
    arrivals.begin(request.socket, request.headers.from ?? '')
    order.push(request.headers.from)
    if (inTurn++ === 0)
      setImmediate(() => {
        perTurn.push(inTurn)
        inTurn = 0
      })
    response.once('close', () => arrivals.end(request.socket))
    setImmediate(() => response.end('done'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets: Socket[] = []
  const open = async (count: number) => {
    const made = Array.from({ length: count }, () => connect((server.address() as AddressInfo).port, '127.0.0.1'))
    sockets.push(...made)
    await Promise.all(made.map((socket) => once(socket, 'connect')))
    // Those of the server too.
    await expect
      .poll(() => new Promise((resolve) => server.getConnections((_, open) => resolve(open))))
      .toBe(sockets.length)
    return made
  }
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { perTurn, order, open, [Symbol.dispose]: close }
}

/** All in one turn of the event loop, on which the server runs too. */
async function sendAll(sockets: readonly Socket[], from: string): Promise<void> {
  const answered = sockets.map((socket) => once(socket, 'data'))
  for (const socket of sockets) socket.write(`GET / HTTP/1.1\r\nhost: x\r\nfrom: ${from}\r\n\r\n`)
  await Promise.all(answered)
}

test('so many requests of new and of known connections arrive in a turn at most', async () => {
  using server = await startServer()
  const sockets = await server.open(clients)
  await sendAll(sockets, 'flood')
  await sendAll(sockets, 'flood')
  expect(server.order).toHaveLength(2 * clients)
  expect(Math.max(...server.perTurn)).toBeLessThanOrEqual(64)
})

test.each(['other', ''])('a connection of another owner is not paused: %j', async (name) => {
  using server = await startServer()
  const other = await server.open(1)
  await sendAll(other, name)
  const flood = await server.open(clients)
  server.order.length = 0
  await Promise.all([sendAll(flood, 'flood'), sendAll(other, name)])
  expect(server.order.indexOf(name)).toBeLessThan(64)
})

test('connections that are paused and closed are forgotten', async () => {
  using server = await startServer()
  const sockets = await server.open(clients)
  const [first, rest] = [sockets.slice(0, 100), sockets.slice(100)]
  const answered = sendAll(first, 'flood')
  for (const socket of rest) socket.destroy()
  await answered
  expect(server.order).toHaveLength(first.length)
})
