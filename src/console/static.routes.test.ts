import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../platform/http/index.ts'
import { staticRoutes } from './static.routes.ts'

const root = mkdtempSync(path.join(tmpdir(), 'portico-static-'))
const folder = path.join(root, 'console')
const script = 'console.log("hello")'
let app: App
let unbuilt: App

beforeAll(async () => {
  mkdirSync(path.join(folder, 'assets'), { recursive: true })
  writeFileSync(path.join(root, 'secret.txt'), 'of another folder')
  writeFileSync(
    path.join(folder, 'index.html'),
    '<aside id="outline">\n</aside><script nonce="__CSP_NONCE__" src="/console/assets/a-1.js"></script>',
  )
  writeFileSync(
    path.join(folder, 'sign-in.html'),
    '<script nonce="__CSP_NONCE__" src="/console/assets/b-1.js"></script>',
  )
  writeFileSync(path.join(folder, 'color-scheme.js'), script)
  writeFileSync(path.join(folder, 'assets/a-1.js'), script)
  writeFileSync(path.join(folder, 'assets/a-1.js.br'), brotliCompressSync(script))
  app = await serve(folder)
  unbuilt = await serve(path.join(root, 'absent'))
})
afterAll(async () => {
  await app.close()
  await unbuilt.close()
  rmSync(root, { recursive: true })
})

async function serve(from: string): Promise<App> {
  const server = fastify() as unknown as App
  staticRoutes({ folder: from })(server)
  await server.ready()
  return server
}

describe('the files of the console', () => {
  it('serves the page with a fresh nonce and a policy without unsafe-inline at every address', async () => {
    const nonces = new Set<string>()
    for (const url of ['/console', '/console/', '/console/operator/models?search=a', '/console/assets-like/page']) {
      const answer = await app.inject({ url, headers: { cookie: 'portico.session_token=abc' } })
      expect(answer.statusCode).toBe(200)
      expect(answer.body).toContain('a-1.js')
      expect(answer.body).toContain('outline')
      const policy = String(answer.headers['content-security-policy'])
      const nonce = /'nonce-([\w-]{20,})'/.exec(policy)![1]!
      expect(answer.body).toContain(`nonce="${nonce}"`)
      expect(policy).not.toContain('unsafe-inline')
      expect(policy).toContain("frame-ancestors 'none'")
      nonces.add(nonce)
    }
    expect(nonces.size).toBe(4)
  })

  it.each([
    ['/console', '/console/sign-in'],
    ['/console/', '/console/sign-in'],
    ['/console/operator/models?search=a', '/console/sign-in?returnTo=%2Foperator%2Fmodels%3Fsearch%3Da'],
    ['/console//other.example/', '/console/sign-in?returnTo=%2F%2Fother.example%2F'],
  ])('leads a browser without a session from %s to the sign-in page, which is a separate document', async (url, to) => {
    for (const cookie of [undefined, 'theme=dark; other.session_token=abc']) {
      const answer = await app.inject({ url, headers: cookie === undefined ? {} : { cookie } })
      expect([answer.statusCode, answer.headers.location]).toEqual([302, to])
    }
    const secure = await app.inject({ url, headers: { cookie: 'theme=dark; __Secure-portico.session_token=abc' } })
    expect(secure.statusCode).toBe(200)
    expect((await app.inject(to)).body).toContain('b-1.js')
  })

  it.each(['/console/setup', '/console/invitations/abc', '/console/password-resets/abc'])(
    'serves %s without a session, and without the outline of the navigation',
    async (url) => {
      const { body } = await app.inject(url)
      expect(body).toContain('a-1.js')
      expect(body).not.toContain('outline')
    },
  )

  it('serves hashed files compressed and for a year, others for an hour', async () => {
    const compressed = await app.inject({ url: '/console/assets/a-1.js', headers: { 'accept-encoding': 'gzip, br' } })
    expect(compressed.headers['content-encoding']).toBe('br')
    expect(compressed.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    const plain = await app.inject('/console/assets/a-1.js')
    expect(plain.body).toBe(script)
    expect(plain.headers['content-encoding']).toBeUndefined()
    const named = await app.inject('/console/color-scheme.js')
    expect(named.headers['cache-control']).toBe('public, max-age=3600')
    const unchanged = await app.inject({
      url: '/console/assets/a-1.js',
      headers: { 'if-none-match': String(plain.headers.etag) },
    })
    expect(unchanged.statusCode).toBe(304)
  })

  it.each(['/console/setup', '/console/sign-in', '/console/assets/a-1.js', '/console/color-scheme.js'])(
    'answers HEAD with the status and headers of GET, without the body: %s',
    async (url) => {
      const headers = { 'accept-encoding': 'br' }
      const [get, head] = [await app.inject({ url, headers }), await app.inject({ url, headers, method: 'HEAD' })]
      expect(get.body).not.toBe('')
      expect(head.body).toBe('')
      expect(head.statusCode).toBe(200)
      const changing = { date: '', 'content-security-policy': '' }
      expect({ ...head.headers, ...changing }).toEqual({ ...get.headers, ...changing })
    },
  )

  it('serves nothing outside its folder', async () => {
    for (const name of [
      '..%2f..%2fsecret.txt',
      '%2e%2e/%2e%2e/secret.txt',
      '....//secret.txt',
      '..\\..\\secret.txt',
      '%00',
      'missing.js',
      '.',
    ])
      expect((await app.inject(`/console/assets/${name}`)).body).not.toContain('of another folder')
    expect((await app.inject('/console/assets/missing.js')).statusCode).toBe(404)
    expect((await app.inject('/console/assets/..%2f..%2fsecret.txt')).statusCode).toBeGreaterThanOrEqual(400)
  })

  it.each(['/console/..%5c..%5csecret.txt', '/console/%5C', '/console/assets/..%5c..%5c..%5csecret.txt'])(
    'refuses an address with a backslash: %s',
    async (url) => {
      const { statusCode } = await app.inject(url)
      expect([403, 404]).toContain(statusCode)
    },
  )

  it('names the command where the console has not been built', async () => {
    const answer = await unbuilt.inject('/console/sign-in')
    expect(answer.statusCode).toBe(503)
    expect(answer.body).toContain('npm run build:console')
  })
})
