import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico, uploadForm } from '../harness/portico.ts'

/** Clients that send slowly or nothing are bounded in time and number, and hold nothing that others need. */

const slowHeadersMs = 600
const slowBodyMs = 2_000
const maximumConnections = 12
/** Generous for a busy machine. */
const deadline = { timeout: 20_000 }

let portico: TestPortico

beforeAll(async () => {
  portico = await startPortico({
    settings: {
      server: {
        slowHeadersMs,
        slowBodyMs,
        maximumConnections,
        maximumJsonBytes: 200_000,
        maximumJsonBytesInFlight: 400_000,
      },
    },
  })
})
afterAll(() => portico?.stop())

interface SlowClient {
  socket: net.Socket
  received(): string
  isClosed(): boolean
}

async function open(text = ''): Promise<SlowClient> {
  const { hostname, port } = new URL(portico.url)
  const socket = net.connect(Number(port), hostname)
  let received = ''
  let closed = false
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
  socket.on('error', () => {})
  socket.on('close', () => (closed = true))
  await once(socket, 'connect')
  socket.write(text)
  return { socket, received: () => received, isClosed: () => closed }
}

/** Sends a piece at intervals until the connection is closed, or `count` pieces. */
async function trickle({ socket }: SlowClient, piece: string, everyMs: number, count = Infinity) {
  for (let sent = 0; sent < count && !socket.destroyed; sent++) {
    socket.write(piece)
    await wait(everyMs)
  }
}

const head = (organisation: TestOrganisation, path: string, type: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${organisation.apiKey}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`

const complete = (organisation: TestOrganisation) =>
  organisation.client('POST', '/v1/gateway/chat/completions', {
    model: 'portico/offline',
    messages: [{ role: 'user', content: 'Hello.' }],
  })

const readMetric = async (name: string) => {
  const text = await (await fetch(portico.metricsUrl)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

/** The service has read the headers of one request. */
const expectRunning = () => expect.poll(() => readMetric('portico_running_requests'), deadline).toBe(1)

describe('a connection', () => {
  it('that sends nothing is closed', async () => {
    const client = await open()
    await expect.poll(client.isClosed, deadline).toBe(true)
  })

  it('whose headers arrive one byte at a time gets 408 and is closed', async () => {
    const client = await open('GET /livez HTTP/1.1\r\nx-slow: ')
    void trickle(client, 'x', 50)
    await expect.poll(client.isClosed, deadline).toBe(true)
    expect(client.received()).toMatch(/^HTTP\/1.1 408 .*request_timeout/s)
  })
})

describe('a body that arrives too slowly', () => {
  it('gets 408, and frees the call and the bytes that it held', async () => {
    const organisation = await portico.createOrganisation({ limits: { concurrentCalls: 1 } })
    const path = '/v1/gateway/chat/completions'
    // Half of the budget of all bodies, which is all that one organisation may use.
    const client = await open(head(organisation, path, 'application/json', 200_000) + ' '.repeat(1_000))
    void trickle(client, ' ', 50)
    await expectRunning()
    expectStatus(await complete(organisation), 429)
    await expect.poll(client.received, deadline).toMatch(/^HTTP\/1.1 408 .*arrived too slowly/s)
    expectStatus(await complete(organisation), 200)
    client.socket.destroy()
  })

  it('gets 408 as an upload, and frees the upload', async () => {
    const organisation = await portico.createOrganisation({ limits: { concurrentUploads: 1 } })
    const space = await portico.createSpace(organisation)
    const path = `/v1/documents?spaceId=${space.id}`
    const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="slow.txt"\r\n\r\n'
    const client = await open(head(organisation, path, 'multipart/form-data; boundary=b', 1_000_000) + part)
    void trickle(client, 'word ', 50)
    const upload = () => organisation.client('POST', path, uploadForm('A quick text.', 'quick.txt'))
    await expectRunning()
    expectStatus(await upload(), 429)
    await expect.poll(client.received, deadline).toMatch(/^HTTP\/1.1 408 .*arrived too slowly/s)
    expectStatus(await upload(), 201)
    client.socket.destroy()
  })

  it('is accepted while it keeps the lowest rate, however long it takes', async () => {
    const organisation = await portico.createOrganisation()
    const body = JSON.stringify({ model: 'portico/offline', messages: [{ role: 'user', content: 'Hello.' }] })
    // Together longer than `slowBodyMs`.
    const pieces = 14
    const piece = ' '.repeat(8 * 1024)
    const length = body.length + pieces * piece.length
    const client = await open(head(organisation, '/v1/gateway/chat/completions', 'application/json', length))
    await trickle(client, piece, 220, pieces)
    client.socket.write(body)
    await expect.poll(client.received, deadline).toMatch(/^HTTP\/1.1 200 /)
    client.socket.destroy()
  })
})

describe('many connections', () => {
  it('between two requests make room for new ones', async () => {
    const idle: SlowClient[] = []
    for (let count = 0; count < 3 * maximumConnections; count++) {
      const client = await open('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n')
      await expect.poll(() => client.received() !== '' || client.isClosed(), deadline).toBe(true)
      idle.push(client)
      expect(idle.filter((one) => !one.isClosed()).length).toBeLessThanOrEqual(maximumConnections + 1)
      // Idle connections are closed once in a second.
      await wait(100)
    }
    expect(idle.filter((client) => client.received().startsWith('HTTP/1.1 200')).length).toBeGreaterThan(
      2 * maximumConnections,
    )
    for (const { socket } of idle) socket.destroy()
  })

  it('above the limit are closed, until the slow ones have been closed', async () => {
    const before = await readMetric('portico_http_connections_refused_total')
    const slow = await Promise.all(Array.from({ length: 2 * maximumConnections }, () => open('GET / HTTP/1.1\r\n')))
    expect(await readMetric('portico_http_connections')).toBeLessThanOrEqual(maximumConnections)
    await expect.poll(() => slow.filter((client) => client.isClosed()).length, deadline).toBe(2 * maximumConnections)
    expect(await readMetric('portico_http_connections_refused_total')).toBeGreaterThan(before)
    expect((await fetch(`${portico.url}/livez`)).status).toBe(200)
    await expect.poll(() => readMetric('portico_http_connections'), deadline).toBeLessThanOrEqual(3)
  })
})
