import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { limitArrivals } from './load.ts'
import { closeUnused } from './connections.ts'

async function openConnection(server: Server) {
  const accepted = once(server, 'connection')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await accepted
  return socket
}

it('ends connections that never sent a byte, and no request that has arrived', async () => {
  const server = createServer((_request, response) => response.end('served')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { open } = limitArrivals(server)
  const unused = await openConnection(server)
  const used = await openConnection(server)
  expect(open.size).toBe(2)
  const answered = once(used, 'data')
  used.write('GET / HTTP/1.1\r\nhost: portico\r\n\r\n')
  await answered
  const ended = once(unused, 'close')
  const answeredAgain = once(used, 'data')
  used.write('GET / HTTP/1.1\r\nhost: portico\r\n\r\n')
  await closeUnused(open)
  await ended
  expect(String((await answeredAgain)[0])).toContain('served')
  expect(open.size).toBe(1)
  used.destroy()
  server.close()
})
