import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { providerCall } from '../../../test/harness/provider-call.ts'
import { publicNetworks } from '../../platform/kernel/index.ts'
import { createConnectionPool } from './connection-pool.ts'
import { needsBytes, withFetchedMedia } from './fetch-media.ts'

const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const server = createServer((request, response) => {
  if (request.url === '/a.png') response.end(png)
  else if (request.url === '/moved') response.writeHead(302, { location: '/a.png' }).end()
  else if (request.url === '/huge') response.end(Buffer.concat([png, Buffer.alloc(21 * 1024 * 1024)]))
  else if (request.url === '/endless') Readable.from(endless()).pipe(response)
  else if (request.url === '/stalled') response.write(png)
  else response.end('<html>')
})
function* endless() {
  yield png
  for (;;) yield Buffer.alloc(64 * 1024)
}
const allowed = createConnectionPool({ limits: undefined, rule: publicNetworks(['127.0.0.0/8']) })
const guarded = createConnectionPool({ limits: undefined, rule: publicNetworks() })
let root = ''

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await Promise.all([allowed.close(), guarded.close()])
  server.close()
  server.closeAllConnections()
})

const callFor = (url: string) =>
  providerCall({ messages: [{ role: 'user', content: [{ type: 'image', source: { kind: 'url', url } }] }] })

test('an address becomes bytes with the type of their content', async () => {
  const call = callFor(`${root}/a.png`)
  expect(needsBytes(call)).toBe(true)
  expect(needsBytes(call, () => true)).toBe(false)
  const { request } = await withFetchedMedia(call, undefined, allowed)
  const source = { kind: 'base64', mediaType: 'image/png', data: png.toString('base64') }
  expect(request.messages[0]!.content).toEqual([{ type: 'image', source }])
})

test.each(['/page', '/moved', '/huge', '/endless'])('what %s answers is refused', async (path) => {
  const refused = withFetchedMedia(callFor(root + path), undefined, allowed)
  await expect(refused).rejects.toMatchObject({
    errorClass: 'invalid_request',
    code: 'invalid_media',
    retryable: false,
  })
})

test('an answer that stops on its way is refused when its time is over', async () => {
  const refused = withFetchedMedia(callFor(`${root}/stalled`), undefined, allowed, 50)
  await expect(refused).rejects.toMatchObject({ errorClass: 'invalid_request', code: 'invalid_media' })
})

test('an address in a private network or of another protocol is refused', async () => {
  for (const url of [`${root}/a.png`, 'file:///etc/passwd', 'http://metadata.google.internal/'])
    await expect(withFetchedMedia(callFor(url), undefined, guarded)).rejects.toMatchObject({ code: 'invalid_media' })
})
