import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumOptions, hasBrowser } from '../harness/chromium.ts'
import { removeFolder, startPortico, type TestPortico } from '../harness/portico.ts'

let portico: TestPortico
beforeAll(async () => {
  portico = await startPortico()
})
afterAll(() => portico?.stop())

describe.skipIf(!hasBrowser)(hasBrowser ? 'the API page' : 'the API page (skipped: there is no Chromium)', () => {
  it('shows every operation without errors and loads nothing from other servers', async () => {
    const profile = mkdtempSync(path.join(tmpdir(), 'portico-browser-'))
    const browser = await chromium.launchPersistentContext(profile, chromiumOptions)
    try {
      const page = await browser.newPage()
      const errors: string[] = []
      const foreign: string[] = []
      page.on('pageerror', (error) => errors.push(error.message))
      page.on('request', (request) => {
        if (!request.url().startsWith(portico.url) && !request.url().startsWith('data:')) foreign.push(request.url())
      })
      await page.goto(`${portico.url}/docs`)
      await page.locator('.opblock').first().waitFor()
      const summaries = await summariesOf(portico.url)
      const seen = new Set<string>()
      const missing = async () => {
        for (const text of await readWhileScrolling(page)) seen.add(text)
        return summaries.filter((summary) => !seen.has(summary))
      }
      await expect.poll(missing, { timeout: 40_000 }).toEqual([])
      if (process.env['PORTICO_SCREENSHOT']) await page.screenshot({ path: process.env['PORTICO_SCREENSHOT'] })
      expect(errors).toEqual([])
      expect(foreign).toEqual([])
    } finally {
      await browser.close()
      await removeFolder(profile)
    }
  })
})

async function summariesOf(url: string): Promise<string[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { summary: string }>>
  }
  return Object.values(paths).flatMap((methods) => Object.values(methods).map(({ summary }) => summary))
}

/** The summaries that the page shows from its beginning to its end: it draws only the operations in view. */
function readWhileScrolling(page: Page): Promise<string[]> {
  // As text: the tests are compiled without the types of a browser.
  return page.evaluate<string[]>(`(async () => {
    const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    const seen = new Set()
    for (let top = 0; top < document.body.scrollHeight; top += innerHeight / 2) {
      scrollTo(0, top)
      for (let frame = 0; frame < 5; frame++) await nextFrame()
      for (const { textContent } of document.querySelectorAll('.opblock-summary-description')) seen.add(textContent)
    }
    return [...seen]
  })()`)
}

describe('the OpenAPI description', () => {
  it('names each operation and each schema once, its server, and the event streams', async () => {
    const document = (await (await fetch(`${portico.url}/openapi.json`)).json()) as {
      servers: { url: string }[]
      components: { schemas: Record<string, unknown> }
      paths: Record<
        string,
        Record<string, { operationId?: string; responses: Record<string, { content?: Record<string, unknown> }> }>
      >
    }
    expect(document.servers).toEqual([{ url: '/' }])
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    const ids = operations.map(({ operationId }) => operationId)
    expect(ids).not.toContain(undefined)
    expect(new Set(ids).size).toBe(ids.length)
    const names = Object.keys(document.components.schemas)
    expect(names.filter((name) => name.endsWith('Input'))).toEqual([])
    const text = JSON.stringify(document)
    for (const [, name] of text.matchAll(/#\/components\/schemas\/([\w-]+)/g)) expect(names).toContain(name)
    const streams = operations
      .filter(({ responses }) => responses['200']?.content?.['text/event-stream'])
      .map(({ operationId }) => operationId)
    expect(streams.toSorted()).toEqual([
      'chatAsVisitor',
      'chatWithSpace',
      'chatWithSpaceV2',
      'createChatCompletion',
      'createChatCompletionV2',
      'createMessage',
      'createOrganisationChatCompletion',
      'createOrganisationChatCompletionV2',
      'createResponse',
      'followSpaceDocuments',
      'previewSpaceChat',
    ])
  })

  it('has every route with its authentication', async () => {
    const document = (await (await fetch(`${portico.url}/openapi.json`)).json()) as {
      openapi: string
      paths: Record<string, Record<string, { security: unknown[]; summary?: string }>>
    }
    expect(document.openapi).toMatch(/^3\.1/)
    for (const path of [
      '/v1/gateway/chat/completions',
      '/v1/documents',
      '/v1/endpoints/{endpointId}/chat',
      '/api/organisations',
      '/api/spaces',
    ]) {
      expect(Object.keys(document.paths)).toContain(path)
    }
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        expect(operation.summary, `${method} ${path}`).toBeTruthy()
        // The token in the address is the credential of a link for a new password. A visit begins without one.
        const isBeforeVisit = /^\/s\/\{name\}\/(?:config|challenge|session)$/.test(path)
        const isOpen = ['/livez', '/readyz', '/api/setup', '/api/invitations/{token}'].includes(path)
          ? method === 'get'
          : path === '/api/password-resets/{token}' || isBeforeVisit
        expect(operation.security.length > 0, `${method} ${path}`).toBe(!isOpen)
      }
    }
  })
})
