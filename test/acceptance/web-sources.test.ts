import { gzipSync } from 'node:zlib'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { hastyClock } from '../harness/hasty-clock.ts'
import { createPerson } from '../harness/people.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  waitForDocument,
} from '../harness/portico.ts'

/** Documents from web addresses. The web is a server of the test, in a network that the setting allows. */

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace
let web: string
let requests: { url: string; headers: IncomingMessage['headers'] }[] = []
let pages: Record<string, (response: ServerResponse, request: IncomingMessage) => void> = {}
const server = createServer((request, response) => {
  requests.push({ url: request.url!, headers: request.headers })
  const answer = pages[request.url!]
  if (answer) answer(response, request)
  else response.writeHead(404).end()
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  web = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  portico = await startPortico({ clock: hastyClock, settings: { network: { importNetworks: ['127.0.0.1'] } } })
  organisation = await portico.createOrganisation()
})
beforeEach(async () => {
  space = await portico.createSpace(organisation)
  requests = []
  pages = {}
})
afterEach(() => vi.restoreAllMocks())
afterAll(async () => {
  await portico?.stop()
  server.closeAllConnections()
  server.close()
})

const html =
  (body: string, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body)
const add = (body: object) => organisation.client('POST', `/v2/documents?spaceId=${space.id}`, body)
const get = async (id: string) => expectStatus(await organisation.client('GET', `/v2/documents/sources/${id}`), 200)
const list = async () =>
  expectStatus(await organisation.client('GET', `/v2/documents/sources?spaceId=${space.id}&limit=100`), 200)
const document = async (id: string) => expectStatus(await organisation.client('GET', `/v2/documents/${id}`), 200)
const totalOfDocuments = async () =>
  expectStatus(await organisation.client('GET', `/v2/documents?spaceId=${space.id}`), 200).total

/** Starts what is due now, as if the pause of each host were over, until the condition holds. */
async function readUntil(condition: () => boolean | Promise<boolean>) {
  const { corpus, webSourceWork } = portico.service
  const check = async () => {
    await corpus.execute('update web_sources set started_at = null')
    await webSourceWork.poll()
    return condition()
  }
  await vi.waitUntil(check, { timeout: 30_000, interval: 50 })
}
async function until(id: string, state: string) {
  await readUntil(async () => (await get(id)).state === state)
  return get(id)
}
/** Reads the address again; resolves when the reading has ended. */
async function readAgain(id: string) {
  const count = requests.length
  expectStatus(await organisation.client('POST', `/v2/documents/sources/${id}/refresh`), 202)
  await readUntil(() => requests.length > count)
  await readUntil(async () => {
    const { nextReadAt } = await get(id)
    return nextReadAt === null || Date.parse(nextReadAt) > Date.now() + 60 * 60_000
  })
  return get(id)
}

describe('a document from a web address', () => {
  test('is read in the background, named by its title and cited by its address', async () => {
    pages['/tea'] = html('<html><title>All about tea</title><body><h1>Tea</h1><p>Tea is a drink.</p></body></html>')
    const given = { url: `${web}/tea#top`, metadata: { product: 'tea' } }
    const added = expectStatus(await add(given), 202)
    expect(added).toMatchObject({ url: `${web}/tea`, state: 'waiting', documentId: null, refresh: null })
    const read = await until(added.id, 'read')
    expect(read).toMatchObject({ documentId: added.id, error: null, nextReadAt: null })
    expect(await waitForDocument(organisation.client, added.id)).toMatchObject({
      name: 'All about tea',
      status: 'ready',
      mimeType: 'text/html',
      metadata: { product: 'tea', url: `${web}/tea` },
    })
    expect(requests[0]!.headers['user-agent']).toMatch(/^portico\//)
  })

  test('is replaced only if its content changed', async () => {
    pages['/a'] = html('<h1>First</h1><p>First text.</p>', { etag: '"1"' })
    const { id } = expectStatus(await add({ url: `${web}/a`, refresh: { every: 'day' } }), 202)
    const first = await until(id, 'read')
    expect(Date.parse(first.nextReadAt!) - Date.parse(first.readAt!)).toBeGreaterThan(23 * 60 * 60_000)
    const before = await waitForDocument(organisation.client, id)

    // Unchanged, with and without a validator.
    pages['/a'] = (response) => void response.writeHead(304).end()
    await readAgain(id)
    expect(requests.at(-1)!.headers['if-none-match']).toBe('"1"')
    pages['/a'] = html('<h1>First</h1><p>First text.</p>')
    await readAgain(id)
    expect(await document(id)).toMatchObject({ status: 'ready', updatedAt: before.updatedAt })

    pages['/a'] = html('<h1>Second</h1><p>Second text.</p>')
    await readAgain(id)
    const after = await waitForDocument(organisation.client, id)
    expect(after).toMatchObject({ id, status: 'ready' })
    expect((await document(id)).contentSha256).not.toBe((before as any).contentSha256) // oxlint-disable-line typescript/no-explicit-any
    expect(await totalOfDocuments()).toBe(1)
  })

  test('stays with a warning while its page is gone', async () => {
    pages['/a'] = html('<p>Some text.</p>')
    const { id } = expectStatus(await add({ url: `${web}/a`, refresh: { every: 'week' } }), 202)
    await until(id, 'read')
    await waitForDocument(organisation.client, id)
    const page = pages['/a']
    delete pages['/a']
    expect((await readAgain(id)).state).toBe('gone')
    expect((await document(id)).warnings).toMatchObject([{ code: 'source_gone' }])
    pages['/a'] = page
    expect((await readAgain(id)).state).toBe('read')
    expect(await document(id)).not.toHaveProperty('warnings')
  })

  test('is not added again after it was deleted', async () => {
    pages['/a'] = html('<p>Some text.</p>')
    const { id } = expectStatus(await add({ url: `${web}/a`, refresh: { every: 'day' } }), 202)
    await until(id, 'read')
    expectStatus(await organisation.client('DELETE', `/v2/documents/${id}`), 204)
    expect((await list()).total).toBe(0)
    await organisation.client('POST', `/v2/documents/sources/${id}/refresh`)
    await readUntil(async () => (await organisation.client('GET', `/v2/documents/sources/${id}`)).status === 404)
    expect(await totalOfDocuments()).toBe(0)
  })

  test('follows redirects, and none to an address that must not be read', async () => {
    pages['/new'] = html('<p>New place.</p>')
    pages['/old'] = (response) => void response.writeHead(301, { location: '/new' }).end()
    pages['/inside'] = (response) => void response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end()
    pages['/private'] = (response) => void response.writeHead(302, { location: 'http://10.0.0.1/' }).end()
    pages['/loop'] = (response) => void response.writeHead(302, { location: '/loop' }).end()
    const ids = []
    for (const name of ['old', 'inside', 'private', 'loop'])
      ids.push(expectStatus(await add({ url: `${web}/${name}` }), 202).id)
    await until(ids[0]!, 'read')
    for (const id of ids.slice(1)) expect((await until(id, 'failed')).documentId).toBeNull()
  })

  test('names why it cannot be read, without details of the network', async () => {
    pages['/program'] = (response) =>
      void response.writeHead(200, { 'content-type': 'application/x-msdownload' }).end('MZ')
    pages['/closed'] = (response) => void response.writeHead(403).end()
    pages['/busy'] = (response) => void response.writeHead(503, { 'retry-after': '7200' }).end()
    pages['/cut'] = (response) =>
      void response.writeHead(200, { 'content-length': '50' }).write('x', () => response.destroy())
    const state = async (name: string, expected: string) =>
      (await until(expectStatus(await add({ url: `${web}/${name}` }), 202).id, expected)).error.message
    expect(await state('program', 'failed')).toContain('not supported')
    expect(await state('closed', 'failed')).toContain('403')
    expect(await state('busy', 'failing')).toContain('503')
    expect(await state('cut', 'failing')).toContain('did not answer')
    expect(await state('nothing', 'failed')).toContain('404')
    expect(await totalOfDocuments()).toBe(0)
  })

  test.each([
    [{}, 'url'],
    [{ url: 'https://example.org/', sitemap: 'https://example.org/sitemap.xml' }, 'url'],
    [{ url: 'ftp://example.org/' }, 'http'],
    [{ url: 'https://user:secret@example.org/' }, 'credentials'],
    [{ url: 'http://10.1.2.3/' }, 'public'],
    [{ url: 'http://[::1]/' }, 'public'],
    [{ url: 'http://169.254.169.254/' }, 'public'],
    [{ url: 'http://2130706434/' }, 'public'],
    [{ url: `https://example.org/${'x'.repeat(2_000)}` }, '2000'],
    [{ url: 'https://example.org/', limit: 3 }, 'sitemap'],
    [{ url: 'https://example.org/', refresh: { every: 'second' } }, 'refresh'],
    [{ url: 'https://example.org/', metadata: { text: 'x'.repeat(17_000) } }, '16384'],
  ])('is a 400 for %j', async (body, text) => {
    expect(expectStatus(await add(body), 400).error.message).toContain(text)
    expect((await list()).total).toBe(0)
  })
})

describe('a sitemap', () => {
  const sitemap =
    (...locations: string[]) =>
    (response: ServerResponse) =>
      void response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(`<?xml version="1.0"?><urlset>${locations.map((one) => `<url><loc>${one}</loc></url>`).join('')}</urlset>`)

  test('adds its pages of the same host up to the limit, and not one that was removed', async () => {
    pages['/a'] = html('<p>Page a.</p>')
    pages['/b'] = html('<p>Page b.</p>')
    pages['/map.xml'] = sitemap(`${web}/a`, 'https://elsewhere.example/x', `${web}/b`, `${web}/c`)
    const { id } = expectStatus(
      await add({ sitemap: `${web}/map.xml`, limit: 2, metadata: { site: 'tea' }, refresh: { every: 'day' } }),
      202,
    )
    await readUntil(async () => (await totalOfDocuments()) === 2)
    const sources = (await list()).items
    expect(sources.map(({ url }: { url: string }) => url).sort()).toEqual([`${web}/a`, `${web}/b`, `${web}/map.xml`])
    const a = sources.find(({ url }: { url: string }) => url === `${web}/a`)
    expect(a).toMatchObject({ sitemapId: id, refresh: { every: 'day' } })
    expect((await document(a.id)).metadata).toEqual({ site: 'tea', url: `${web}/a` })

    expectStatus(await organisation.client('DELETE', `/v2/documents/sources/${a.id}`), 204)
    await readAgain(id)
    expect((await list()).total).toBe(2)
    expect(await totalOfDocuments()).toBe(2)
  })

  test('may be an index of packed sitemaps', async () => {
    pages['/a'] = html('<p>Page a.</p>')
    const inner = `<urlset><url><loc>${web}/a</loc></url></urlset>`
    pages['/inner.xml.gz'] = (response) => void response.end(gzipSync(inner))
    pages['/index.xml'] = (response) =>
      void response.end(`<sitemapindex><sitemap><loc>${web}/inner.xml.gz</loc></sitemap></sitemapindex>`)
    expectStatus(await add({ sitemap: `${web}/index.xml` }), 202)
    await readUntil(async () => (await totalOfDocuments()) === 1)
  })

  test('fails if it is no sitemap', async () => {
    pages['/a'] = html('<p>no sitemap</p>')
    const { id } = expectStatus(await add({ sitemap: `${web}/a` }), 202)
    expect((await until(id, 'failed')).error).toMatchObject({ code: 'no_sitemap' })
  })
})

describe('addresses in the console', () => {
  test('are added, listed, read again and removed by members, with entries in the admin log', async () => {
    pages['/a'] = html('<p>Some text.</p>')
    const email = `${crypto.randomUUID()}@example.org`
    const member = await createPerson(portico, { email, organisationId: organisation.id })
    const base = `/api/spaces/${space.id}/sources`
    const { id } = expectStatus(await member.call('POST', base, { url: `${web}/a` }), 202)
    await until(id, 'read')
    expect(expectStatus(await member.call('GET', base), 200)).toMatchObject({
      total: 1,
      items: [{ id, state: 'read' }],
    })
    expectStatus(await member.call('POST', `${base}/${id}/refresh`), 202)
    const other = await portico.createSpace(organisation)
    expectStatus(await member.call('DELETE', `/api/spaces/${other.id}/sources/${id}`), 404)
    expectStatus(await member.call('DELETE', `${base}/${id}`), 204)
    expect(expectStatus(await member.call('GET', base), 200).total).toBe(0)
    const actions = async () =>
      expectStatus(await portico.operator('GET', `/api/admin-log?actor=${encodeURIComponent(email)}&limit=100`), 200)
        .items.filter(({ subjectId }: { subjectId: string }) => subjectId === id)
        .map(({ action }: { action: string }) => action)
        .sort()
    await expect
      .poll(actions, { timeout: 30_000 })
      .toEqual(['document.created', 'document.removed', 'document.retried'])
  })

  test('end with their Space', async () => {
    expectStatus(await add({ url: `${web}/a`, refresh: { every: 'day' } }), 202)
    expectStatus(await portico.operator('DELETE', `/api/spaces/${space.id}`), 204)
    await readUntil(
      async () =>
        (await portico.service.corpus.query('select 1 from web_sources where space_id = $1', [space.id])).length === 0,
    )
  })
})
