import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../platform/http/index.ts'
import { visitorPageRoutes } from './visitor-page.routes.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'portico-visitor-'))
let app: App

beforeAll(async () => {
  mkdirSync(path.join(folder, 'assets'))
  writeFileSync(path.join(folder, 'index.html'), '<script src="/widget/assets/a-1.js"></script>')
  writeFileSync(path.join(folder, 'widget.js'), 'start()')
  writeFileSync(path.join(folder, 'assets/a-1.js'), 'start()')
  app = await serve(folder)
})
afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

async function serve(from: string): Promise<App> {
  const server = fastify() as unknown as App
  server.addHook('onRequest', async (_request, reply) => void reply.header('x-frame-options', 'DENY'))
  const frameAncestors = ["'self'", 'https://shop.example']
  visitorPageRoutes({ folder: from, pagePolicyOf: (name) => (name === 'help' ? { frameAncestors } : undefined) })(
    server,
  )
  await server.ready()
  return server
}

describe('the page of a hosted chat', () => {
  it('may be framed by the websites of its Space only, and runs no inline script', async () => {
    const { statusCode, headers } = await app.inject('/s/help?embed=1')
    const policy = String(headers['content-security-policy'])
    expect(statusCode).toBe(200)
    expect(policy).toMatch(/frame-ancestors 'self' https:\/\/shop\.example$/)
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toContain('unsafe')
    expect(headers['x-frame-options']).toBeUndefined()
  })

  it('is a 404 that states it in any frame where there is no chat', async () => {
    const { statusCode, headers, body } = await app.inject('/s/other')
    expect(statusCode).toBe(404)
    expect(headers['content-security-policy']).toMatch(/frame-ancestors \*$/)
    expect(body).toContain('/widget/assets/')
  })

  it('states that it has not been built', async () => {
    const unbuilt = await serve(path.join(folder, 'absent'))
    expect((await unbuilt.inject('/s/help')).statusCode).toBe(503)
    await unbuilt.close()
  })
})

describe('the script for websites', () => {
  it('may be included by any website, and is asked for again after ten minutes', async () => {
    const { headers } = await app.inject('/widget.js')
    expect(headers['cross-origin-resource-policy']).toBe('cross-origin')
    expect(headers['cache-control']).toBe('public, max-age=600')
    expect(String(headers['content-type'])).toContain('javascript')
  })

  it('sets no cookie, nor does the page', async () => {
    for (const url of ['/widget.js', '/s/help', '/widget/assets/a-1.js'])
      expect((await app.inject(url)).headers['set-cookie']).toBeUndefined()
  })
})
