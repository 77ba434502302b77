import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Agent, fetch, FormData } from 'undici'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, freePort, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { stallingModel, startStallingUpstream } from '../harness/stalling-upstream.ts'
import { testCertificate, testCertificateKey } from '../upstream/test-certificate.ts'

/** The examples of deploy/ in front of a running service, with real proxies and TLS. Only names, addresses and folders are replaced. */

interface Proxy {
  program: string
  /** Writes the configuration for a port into the folder, and returns the arguments of the program. */
  configure(folder: string, port: number, upstreamPort: string): string[]
}

const example = (name: string) => readFileSync(path.join(import.meta.dirname, '../../deploy', name), 'utf8')

/** Fails where the example no longer has the text, so that no test runs with its address of production. */
function replaceAll(text: string, replacements: Record<string, string>): string {
  for (const [from, to] of Object.entries(replacements)) {
    expect(text).toContain(from)
    text = text.replaceAll(from, to)
  }
  return text
}

const proxies: Record<string, Proxy> = {
  nginx: {
    program: '/usr/sbin/nginx',
    configure(folder, port, upstreamPort) {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${folder}/${kind};`,
      )
      const text = replaceAll(example('nginx.conf'), {
        'http {': `http {\naccess_log off;\n${temporary.join('\n')}\n`,
        'listen 443': `listen 127.0.0.1:${port}`,
        '/etc/ssl/portico': folder,
        '127.0.0.1:8080': `127.0.0.1:${upstreamPort}`,
      })
      const file = path.join(folder, 'nginx.conf')
      writeFileSync(file, text)
      const own = `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;`
      return ['-c', file, '-e', `${folder}/error.log`, '-g', own]
    },
  },
  Caddy: {
    program: '/usr/bin/caddy',
    configure(folder, port, upstreamPort) {
      const text = replaceAll(example('Caddyfile'), {
        'portico.example.com {': `https://127.0.0.1:${port} {\n\ttls ${folder}/fullchain.pem ${folder}/privkey.pem`,
        '127.0.0.1:8080': `127.0.0.1:${upstreamPort}`,
      })
      const file = path.join(folder, 'Caddyfile')
      writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text}`)
      return ['run', '--adapter', 'caddyfile', '--config', file]
    },
  },
}

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

for (const [name, proxy] of Object.entries(proxies)) {
  const isInstalled = existsSync(proxy.program)
  describe.skipIf(!isInstalled)(
    isInstalled ? `behind ${name}` : `behind ${name} (skipped: it is not installed)`,
    () => {
      let folder: string
      let child: ChildProcess
      let url: string
      const dispatcher = new Agent({ connect: { ca: testCertificate } })

      beforeEach(async () => {
        folder = mkdtempSync(path.join(os.tmpdir(), 'portico-proxy-'))
        // nginx's workers are another user.
        chmodSync(folder, 0o755)
        writeFileSync(path.join(folder, 'fullchain.pem'), testCertificate)
        writeFileSync(path.join(folder, 'privkey.pem'), testCertificateKey)
        const port = await freePort()
        url = `https://127.0.0.1:${port}`
        const given = proxy.configure(folder, port, new URL(portico.url).port)
        const environment = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
        child = spawn(proxy.program, given, { stdio: 'ignore', env: environment })
        // The proxy does not listen at once.
        const livez = () => call('/livez').then((response) => response.status, String)
        await expect.poll(livez, { timeout: 20_000 }).toBe(200)
      })
      afterEach(async () => {
        const ended = once(child, 'exit')
        child.kill('SIGKILL')
        await ended
        rmSync(folder, { recursive: true })
      })
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
    },
  )
}
