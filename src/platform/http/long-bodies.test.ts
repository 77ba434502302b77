import type { AddressInfo } from 'node:net'
import { request as httpRequest } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { App, Routes } from './route.ts'
import { createServer } from './server.ts'
import { serverOptions } from './testing/server-options.ts'

/** How long a body may arrive. The limit of 10 minutes is half a second here. */

const requestTimeoutMs = 500
const sentForMs = 4 * requestTimeoutMs

let app: App

const addRoutes: Routes = (server) => {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/x-tar', async () => ({}))
  for (const longBody of [true, false]) {
    server.post(longBody ? '/long' : '/usual', { config: { auth: 'none', longBody } }, (request) =>
      countBytes(request.raw),
    )
  }
}

async function countBytes(body: AsyncIterable<Buffer>) {
  let bytes = 0
  for await (const chunk of body) bytes += chunk.length
  return { bytes }
}

beforeAll(async () => {
  app = createServer({
    ...serverOptions(),
    requestTimeoutMs,
    slowHeadersMs: requestTimeoutMs / 2,
    routes: [(server) => void server.register(async (scope: unknown) => addRoutes(scope as App))],
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app?.close())

/** Sends a byte now and then, because the elapsed time is what is tested. Resolves to the status and the body of the response. */
async function send(path: string): Promise<[status: number | undefined, body: unknown]> {
  const { port } = app.server.address() as AddressInfo
  const headers = { 'content-type': 'application/x-tar' }
  const request = httpRequest({ host: '127.0.0.1', port, path, method: 'POST', headers })
  const response = new Promise<[number | undefined, unknown]>((resolve, reject) => {
    request.once('error', reject)
    request.once('response', (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.once('end', () => resolve([answer.statusCode, JSON.parse(text)]))
    })
  })
  const answered = new AbortController()
  response.finally(() => answered.abort()).catch(() => {})
  for (let sentMs = 0; sentMs < sentForMs && !answered.signal.aborted; sentMs += 50) {
    request.write('x')
    await wait(50)
  }
  request.end()
  return response
}

it('a body takes longer than a request may where its route allows it', async () => {
  expect(await send('/long')).toEqual([200, { bytes: sentForMs / 50 }])
})

it('other bodies do not', async () => {
  expect(await send('/usual')).toEqual([408, { error: expect.objectContaining({ code: 'request_timeout' }) }])
})
