import { Agent, fetch, FormData } from 'undici'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { isInstalled, reverseProxies, type RunningProxy, startReverseProxy } from '../harness/reverse-proxies.ts'
import { stallingModel, startStallingUpstream } from '../harness/stalling-upstream.ts'
import { testCertificate } from '../upstream/test-certificate.ts'

/** The examples of deploy/ in front of a running service, with real proxies and TLS. */

let stalling: Awaited<ReturnType<typeof startStallingUpstream>>
let portico: TestPortico
let organisation: TestOrganisation

beforeAll(async () => {
  stalling = await startStallingUpstream()
  portico = await startPortico({ settings: { ...stalling.settings, server: { trustProxy: ['127.0.0.1'] } } })
  organisation = await portico.createOrganisation()
})
afterAll(async () => {
  await portico?.stop()
  stalling?.close()
})

for (const [name, proxy] of Object.entries(reverseProxies)) {
  const canRun = isInstalled(proxy)
  describe.skipIf(!canRun)(canRun ? `behind ${name}` : `behind ${name} (skipped: it is not installed)`, () => {
    let running: RunningProxy
    let url: string
    const dispatcher = new Agent({ connect: { ca: testCertificate } })

    beforeEach(async () => {
      running = await startReverseProxy(proxy, [Number(new URL(portico.url).port)])
      url = running.url
      const livez = () => call('/livez').then((response) => response.status, String)
      await expect.poll(livez, { timeout: 20_000 }).toBe(200)
    })
    afterEach(() => running.stop())
    afterAll(() => dispatcher.close())

    const authorization = () => ({ authorization: `Bearer ${organisation.apiKey}` })
    const call = (target: string, init: Parameters<typeof fetch>[1] = {}) =>
      fetch(url + target, { ...init, headers: { ...authorization(), ...init.headers }, dispatcher })
    const complete = (body: object, signal?: AbortSignal) =>
      call('/v1/gateway/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], ...body }),
        ...(signal && { signal }),
      })

    test('text of a stream arrives while the provider is silent, and a client that leaves ends the call', async () => {
      const gone = new AbortController()
      const response = await complete({ model: stallingModel, stream: true }, gone.signal)
      const reader = response.body!.getReader()
      let text = ''
      while (!text.includes('The first words.')) {
        const { value, done } = await reader.read()
        expect(done).toBe(false)
        text += Buffer.from(value!).toString()
      }
      gone.abort()
      const requestId = response.headers.get('x-request-id')!
      // The receipt exists when the call has ended.
      const receipt = () => portico.operator('GET', `/api/usage/${requestId}`)
      await expect.poll(async () => (await receipt()).status, { timeout: 20_000 }).toBe(200)
      expect((await receipt()).body).toMatchObject({ ending: 'client_closed' })
    })

    test('uploads may be larger than the limits of a proxy, and the error about the size is that of Portico', async () => {
      const space = await portico.createSpace(organisation)
      const upload = (bytes: number) => {
        const form = new FormData()
        form.append('file', new Blob([Buffer.alloc(bytes, 'a sentence. ')]), 'large.txt')
        return call(`/v1/documents?spaceId=${space.id}`, { method: 'POST', body: form })
      }
      const stored = await upload(30 * 1024 * 1024)
      expect(stored.status).toBe(201)
      const { id } = (await stored.json()) as { id: string }
      expectStatus(await organisation.client('DELETE', `/v1/documents/${id}`), 204)
      const refused = await complete({
        model: 'portico/offline',
        metadata: { padding: 'x'.repeat(34 * 1024 * 1024) },
      })
      expect(refused.status).toBe(413)
      expect(await refused.json()).toMatchObject({ error: { code: 'request_too_large' } })
    })

    test('the console shows the address of the proxy, whatever a client claims', async () => {
      const response = await call(`/api/console/organisations/${organisation.id}/developer-tools`, {
        headers: {
          authorization: `Bearer ${portico.operatorToken}`,
          'x-forwarded-proto': 'http',
          'x-forwarded-host': 'forged.example',
        },
      })
      expect(await response.json()).toMatchObject({ baseUrl: `${url}/v1/gateway` })
    })
  })
}
