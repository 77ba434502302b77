import { once } from 'node:events'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'

/** The bodies of all requests in flight have a budget, of which one organisation may hold half. */

const maximumJsonBytes = 100_000
let portico: TestPortico

beforeAll(async () => {
  portico = await startPortico({ settings: { server: { maximumJsonBytes, maximumJsonBytesInFlight: 200_000 } } })
})
afterAll(() => portico?.stop())

/** A completion whose body stops before its end; `release` closes the connection. */
async function startUpload(organisation: TestOrganisation, bytes: number) {
  const { hostname, port } = new URL(portico.url)
  const socket = net.connect(Number(port), hostname)
  await once(socket, 'connect')
  const head = `POST /v1/gateway/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: ${organisation.apiKey}\r\ncontent-type: application/json\r\ncontent-length: ${bytes + 1}\r\n\r\n`
  await new Promise<unknown>((resolve) => socket.write(head + ' '.repeat(bytes), resolve))
  // The kernel has the bytes; the service reads them during these requests.
  for (let turn = 0; turn < 10; turn++) await (await fetch(`${portico.url}/livez`)).text()
  return { release: () => socket.destroy() }
}

const send = (organisation: TestOrganisation, bytes: number) =>
  organisation.client('POST', '/v1/gateway/chat/completions', {
    model: 'portico/offline',
    messages: [{ role: 'user', content: 'Hello.' }],
    ignored: 'x'.repeat(bytes),
  })

/** The service notices a closed connection a moment later: repeats until the response has the status, for a bounded time. */
async function untilStatus(status: number, ask: () => ReturnType<typeof send>) {
  for (let round = 0; ; round++) {
    const answer = await ask()
    if (answer.status === status || round === 200) return expectStatus(answer, status) && answer
  }
}

describe('request bodies in flight', () => {
  it('of one organisation use at most half of the budget, and those of all organisations the whole', async () => {
    const [one, two, three] = [
      await portico.createOrganisation(),
      await portico.createOrganisation(),
      await portico.createOrganisation(),
    ]
    const first = await startUpload(one, 80_000)
    const limited = await send(one, 50_000)
    expectStatus(limited, 429)
    expect(limited.body.error).toMatchObject({
      code: 'rate_limit_exceeded',
      message: expect.stringContaining('100000'),
    })
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    expectStatus(await send(two, 50_000), 200)

    const second = await startUpload(two, 70_000)
    const shed = await send(three, 50_000)
    expectStatus(shed, 503)
    expect(shed.body.error.code).toBe('overloaded')
    expect(Number(shed.headers.get('retry-after'))).toBeGreaterThan(0)
    expectStatus(await send(three, 1000), 200)

    first.release()
    await untilStatus(200, () => send(three, 50_000))
    await untilStatus(200, () => send(one, 80_000))
    second.release()
  })

  it('of several organisations leave room for another one', async () => {
    const [one, two, three] = [
      await portico.createOrganisation(),
      await portico.createOrganisation(),
      await portico.createOrganisation(),
    ]
    const first = await startUpload(one, 99_000)
    const shed = await send(two, 90_000)
    expect(expectStatus(shed, 503).error.code).toBe('overloaded')
    const second = await startUpload(two, 60_000)
    expectStatus(await send(three, 10_000), 200)
    first.release()
    second.release()
  })

  it('larger than the limit of one body are 413, declared or not', async () => {
    const organisation = await portico.createOrganisation()
    const declared = await send(organisation, maximumJsonBytes)
    expect(expectStatus(declared, 413).error.message).toContain(String(maximumJsonBytes))
    const chunked = await fetch(`${portico.url}/v1/gateway/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json' },
      body: new Blob(['x'.repeat(maximumJsonBytes + 1)]).stream(),
      duplex: 'half',
    } as RequestInit)
    expect(chunked.status).toBe(413)
  })
})
