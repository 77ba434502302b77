import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { limitConnections } from './connections.ts'

async function openConnection(server: Server) {
  const accepted = once(server, 'connection')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await accepted
  return socket
}

it('ends connections that never sent a byte, and no request that has arrived', async () => {
  const server = createServer((_request, response) => response.end('served')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { open, closeUnused } = limitConnections(server, 10, () => {})
  const unused = await openConnection(server)
  const used = await openConnection(server)
  expect(open()).toBe(2)
  const answered = once(used, 'data')
  used.write('GET / HTTP/1.1\r\nhost: portico\r\n\r\n')
  await answered
  const ended = once(unused, 'close')
  const answeredAgain = once(used, 'data')
  used.write('GET / HTTP/1.1\r\nhost: portico\r\n\r\n')
  await closeUnused()
  await ended
  expect(String((await answeredAgain)[0])).toContain('served')
  expect(open()).toBe(1)
  used.destroy()
  server.close()
})
