import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createPerson } from '../harness/people.ts'
import {
  type ApiClient,
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'
import { enterSite, openSite } from '../harness/site.ts'
import { readToolRequest, scriptedTurn, type ScriptedTurn, type ToolRequest } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

/** Filters by metadata on each path that reads documents: whatever is asked, no word of another customer's files comes back or reaches a model. */

let portico: TestPortico
let upstream: Upstream
let organisation: TestOrganisation
let space: TestSpace
/** Small files are given whole. */
let whole: TestSpace
let guarded: TestSpace
let member: ApiClient
let corvoId: string
let sent: string[] = []
let plan: (request: ToolRequest) => ScriptedTurn = () => 'Yes.'

const acme = { customer: 'acme' }
const header = { 'service-document-filter': JSON.stringify(acme) }
const question = 'What does a lantern cost?'
const messages = [{ role: 'user', content: question }]
/** Only in the files of the other customer, and in their names. */
const secret = 'raven'

beforeAll(async () => {
  upstream = await startUpstream(({ body }) => {
    sent.push(body)
    return scriptedTurn(plan(readToolRequest(body)))
  })
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        { id: 'p', flavour: 'generic', baseUrl: `${upstream.url}/v1`, apiKey: 'sk', hosting: 'us', models: 'declared' },
      ],
      models: [
        {
          id: 'm',
          maxOutputTokens: 1_000,
          contextTokens: 200_000,
          deployments: [{ provider: 'p', prices: { input: '1', output: '2' } }],
        },
      ],
    },
  })
  organisation = await portico.createOrganisation()
  const searched = { maximumPassages: 5, wholeSpaceTokens: 0 }
  space = await portico.createSpace(organisation, { model: 'm', settings: searched })
  whole = await portico.createSpace(organisation, { model: 'm' })
  guarded = await portico.createSpace(organisation, { model: 'm', settings: { requiredFilter: ['customer'] } })
  member = (await createPerson(portico, { email: 'member@example.org', organisationId: organisation.id })).call
  for (const target of [space, whole, guarded]) {
    await upload(target, 'A red lantern costs 12 euros for Acme.', 'lanterns.md', { customer: 'acme', year: 2024 })
    await upload(target, 'Item,Price\nlantern,12\nrope,3\n', 'prices.csv', { customer: ['acme', 'zürich'] })
    const text = `# The ${secret}\n\n${`A lantern costs 9 euros for the ${secret}. `.repeat(20)}`
    corvoId = await upload(target, text, `${secret} lanterns.md`, {
      customer: 'corvo',
      year: 2025,
      url: `https://${secret}.example`,
    })
    await upload(target, `Item,Price,Code\nlantern,9,${secret}\n`, `${secret} prices.csv`, { customer: 'corvo' })
    await upload(target, `A lantern for nobody, said the ${secret}.`, 'unmarked.txt')
  }
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})
beforeEach(() => {
  sent = []
  plan = () => 'Yes.'
})

async function upload(target: TestSpace, text: string, name: string, metadata?: object): Promise<string> {
  const form = uploadForm(text, name, metadata ? { metadata: JSON.stringify(metadata) } : {})
  const { id } = expectStatus(await organisation.client('POST', `/v2/documents?spaceId=${target.id}`, form), 201)
  expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
  return id
}

const chat = (target: TestSpace, body: object = {}, headers: Record<string, string> = {}, version = 2) =>
  organisation.client('POST', `/v${version}/endpoints/${target.endpointId}/chat`, { messages, ...body }, headers)
const search = (target: TestSpace, body: object, headers: Record<string, string> = {}) =>
  organisation.client('POST', `/v2/endpoints/${target.endpointId}/search`, { query: question, ...body }, headers)

async function connect(target: TestSpace, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { 'x-api-key': organisation.apiKey, ...headers } }
  const address = new URL(`${portico.url}/v2/endpoints/${target.endpointId}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit }))
  return client
}

/** Every tool that reads files, asked for the files of the other customer. */
const calls = () => {
  const name = `${secret} lanterns.md`
  const table = `${secret} prices.csv`
  return [
    { name: 'search_uploaded_files', args: { query: 'lantern cost' } },
    { name: 'search_uploaded_files', args: { query: 'lantern cost', metadata: { customer: 'corvo' } } },
    { name: 'search_uploaded_files', args: { query: 'lantern', name: 'lanterns' } },
    { name: 'list_documents', args: {} },
    { name: 'open_document', args: { document: name } },
    { name: 'open_document', args: { document: corvoId } },
    { name: 'find_in_document', args: { document: corvoId, text: 'euros' } },
    { name: 'describe_tables', args: { documents: [table] } },
    { name: 'query_tables', args: { documents: [table], sql: 'select * from t1' } },
    { name: 'query_tables', args: { documents: ['prices.csv'], sql: 'select * from t1' } },
  ]
}
/** Without the names in the calls, which are not from a file. */
const withoutNames = (text: string) =>
  text.replaceAll(`${secret} lanterns.md`, '').replaceAll(`${secret} prices.csv`, '')

describe('an answer with a filter', () => {
  it.each([
    ['in the header of version 2', () => chat(space, {}, header)],
    ['in the body of version 2', () => chat(space, { filter: acme })],
    ['in the header of version 1', () => chat(space, {}, header, 1)],
    ['in a Space whose files are given whole', () => chat(whole, { filter: acme })],
    ['that both header and body restrict', () => chat(whole, { filter: { year: { gte: 2000 } } }, header)],
    ['of the console', () => member('POST', `/api/spaces/${space.id}/chat`, { messages }, header)],
  ])('%s uses and cites only matching documents', async (_, ask) => {
    const { references } = expectStatus(await ask(), 200)
    expect(references.map(({ title }: { title: string }) => title)).toContain('lanterns.md')
    expect(sent.length).toBeGreaterThan(0)
    expect(sent.join('')).toContain('12 euros')
    expect(`${sent.join('')}${JSON.stringify(references)}`).not.toMatch(new RegExp(secret, 'i'))
  })

  it('keeps every tool from the other documents, whatever the model asks for', async () => {
    plan = ({ round }) => {
      const next = calls().slice(round * 4, round * 4 + 4)
      return next.length > 0 ? next : 'Done.'
    }
    const headers = { ...header, 'service-enable-agentic-workflow': 'true', 'service-enable-inline-sources': 'true' }
    expectStatus(await chat(space, {}, headers), 200)
    const { results, prompt } = readToolRequest(sent.at(-1)!)
    expect(results).toHaveLength(calls().length)
    expect(results[3]).toContain('lanterns.md')
    expect(results[3]).toContain('2 match in all')
    expect(results[9]).toContain('rope')
    expect(withoutNames([...results, prompt].join('\n'))).not.toMatch(new RegExp(secret, 'i'))
  })

  it('finds nothing where no document matches, and still answers', async () => {
    const { references } = expectStatus(await chat(whole, { filter: { customer: 'nobody' } }), 200)
    expect(references).toEqual([])
    expect(sent.join('')).not.toContain('lantern costs')
  })

  it('reports always why the text ended on version 2, and not on version 1', async () => {
    expect(expectStatus(await chat(space, { filter: acme }), 200)).toMatchObject({ finishReason: 'stop' })
    expect(expectStatus(await chat(space, {}, header, 1), 200)).not.toHaveProperty('finishReason')
  })
})

describe('a search with a filter', () => {
  it('returns the passages of matching documents, by lists, ranges and their combinations', async () => {
    const titles = async (filter: object) => {
      const { passages } = expectStatus(await search(space, { filter, limit: 50 }), 200)
      return [...new Set<string>(passages.map(({ title }: { title: string }) => title))].toSorted()
    }
    expect(await titles(acme)).toEqual(['lanterns.md', 'prices.csv'])
    expect(await titles({ year: { gte: 2024, lt: 2025 } })).toEqual(['lanterns.md'])
    expect(await titles({ or: [{ year: 2024 }, { customer: 'zürich' }] })).toEqual(['lanterns.md', 'prices.csv'])
    expect(await titles({ not: { customer: ['acme', 'corvo'] } })).toEqual(['unmarked.txt'])
    const { passages } = expectStatus(
      await search(space, {}, { 'service-document-filter': '{"customer": "z\\u00fcrich"}' }),
      200,
    )
    expect(passages[0]).toMatchObject({ title: 'prices.csv', rows: { from: 1, to: 2 }, score: expect.any(Number) })
  })

  it('reads a header in UTF-8 and in Latin-1', async () => {
    for (const bytes of [Buffer.from('{"customer": "zürich"}', 'utf8').toString('latin1'), '{"customer": "zürich"}']) {
      const { passages } = expectStatus(await search(space, {}, { 'service-document-filter': bytes }), 200)
      expect(passages.map(({ title }: { title: string }) => title)).toEqual(['prices.csv'])
    }
  })

  it('of the console explains the candidates that match', async () => {
    const body = { messages, filter: acme }
    const result = expectStatus(await member('POST', `/api/spaces/${space.id}/search`, body), 200)
    expect(result.candidates.length).toBeGreaterThan(0)
    expect(JSON.stringify(result)).not.toMatch(new RegExp(secret, 'i'))
  })
})

describe('a client of the Model Context Protocol with a filter', () => {
  it('reads only matching documents with every tool, and asks about them only', async () => {
    const client = await connect(space, header)
    for (const { name, args } of [...calls(), { name: 'ask', args: { question } }]) {
      const result = await client.callTool({ name, arguments: args as Record<string, unknown> })
      expect(withoutNames(JSON.stringify(result))).not.toMatch(new RegExp(secret, 'i'))
    }
    expect(sent.join('')).not.toMatch(new RegExp(secret, 'i'))
    await client.close()
  })
})

describe('a Space that requires a filter', () => {
  const refused = { status: 400, body: { error: { code: null, param: 'service-document-filter' } } }

  it.each<[string, () => Promise<{ body: { error: { message: string } } }>]>([
    ['chat of version 1', () => chat(guarded, {}, {}, 1)],
    ['chat of version 2', () => chat(guarded)],
    ['stream', () => chat(guarded, { streaming: true })],
    ['filter of another field', () => chat(guarded, { filter: { year: 2024 } })],
    ['filter that only excludes', () => chat(guarded, { filter: { not: { customer: 'corvo' } } })],
    ['filter with a range', () => chat(guarded, { filter: { customer: { gte: '' } } })],
    ['filter with another way around it', () => chat(guarded, { filter: { or: [acme, { year: { gte: 0 } }] } })],
    ['search', () => search(guarded, {})],
    ['chat of the console', () => member('POST', `/api/spaces/${guarded.id}/chat`, { messages }) as never],
    ['search of the console', () => member('POST', `/api/spaces/${guarded.id}/search`, { messages }) as never],
    [
      'client of the Model Context Protocol',
      () =>
        organisation.client(
          'POST',
          `/v2/endpoints/${guarded.endpointId}/mcp`,
          { jsonrpc: '2.0', id: 1, method: 'tools/list' },
          { accept: 'application/json, text/event-stream' },
        ),
    ],
  ])('refuses a %s without it, naming the field', async (_, ask) => {
    const answer = await ask()
    expect(answer).toMatchObject(refused)
    expect(answer.body.error.message).toContain('`customer`')
    expect(sent).toEqual([])
  })

  it('answers with it, on both versions', async () => {
    for (const version of [1, 2]) expectStatus(await chat(guarded, {}, header, version), 200)
    expectStatus(await search(guarded, { filter: acme }), 200)
    expect(sent.join('')).not.toMatch(new RegExp(secret, 'i'))
  })

  it('answers visitors of its site only with the filter of the site', async () => {
    const refusedVisitor = await enterSite(portico.url, await openSite(portico, guarded))
    expect(await refusedVisitor.ask(question)).toMatchObject({ status: 400 })
    expect(sent).toEqual([])
    const filter = { customer: ['acme', 'zürich', '漢'] }
    const visitor = await enterSite(portico.url, await openSite(portico, guarded, { filter }))
    expectStatus(await visitor.ask(question), 200)
    expect(sent.join('')).toContain('12 euros')
    expect(sent.join('')).not.toMatch(new RegExp(secret, 'i'))
    const { site } = expectStatus(await portico.operator('GET', `/api/spaces/${guarded.id}/site`), 200)
    expect(site.filter).toEqual(filter)
    const wrong = await portico.operator('PUT', `/api/spaces/${guarded.id}/site`, {
      ...site,
      filter: { customer: null },
    })
    expect(wrong.status).toBe(400)
  })

  it('answers golden questions only with the filter of their settings', async () => {
    const at = `/api/spaces/${guarded.id}`
    expectStatus(await portico.operator('POST', `${at}/golden-questions`, { messages }), 201)
    const outcome = async () => {
      const { id } = expectStatus(await portico.operator('POST', `${at}/golden-runs`), 202)
      const run = async () => expectStatus(await portico.operator('GET', `${at}/golden-runs/${id}`), 200)
      await expect.poll(async () => (await run()).state, { timeout: 30_000 }).toMatch(/^(?:completed|failed)$/)
      return expectStatus(await portico.operator('GET', `${at}/golden-runs/${id}/results`), 200).items[0].outcome
    }
    expect(await outcome()).toBe('error')
    expect(sent).toEqual([])
    expectStatus(await portico.operator('PATCH', `${at}/golden-questions/settings`, { filter: acme }), 200)
    expect(await outcome()).not.toBe('error')
    expect(sent.join('')).toContain('12 euros')
    expect(sent.join('')).not.toMatch(new RegExp(secret, 'i'))
  })

  it('is set by administrators only, and by names that a filter can have', async () => {
    const set = (requiredFilter: unknown) => ({ settings: { requiredFilter } })
    expect(await member('PATCH', `/api/spaces/${guarded.id}`, set([]))).toMatchObject({ status: 403 })
    expectStatus(await member('PATCH', `/api/spaces/${guarded.id}`, set(['customer'])), 200)
    for (const names of [['or'], [''], ['$x'], ['a', 'b', 'c', 'd', 'e', 'f']]) {
      const answer = await portico.operator('PATCH', `/api/spaces/${guarded.id}`, set(names))
      expect(answer).toMatchObject({ status: 400, body: { error: { param: 'settings.requiredFilter' } } })
    }
  })
})

describe('a wrong filter', () => {
  it.each([
    ['service-document-filter', {}, { 'service-document-filter': '{"a": ' }],
    ['service-document-filter', {}, { 'service-document-filter': '{}' }],
    ['service-document-filter.year.$gte', {}, { 'service-document-filter': '{"year": {"$gte": 1}}' }],
    ['filter.customer', { filter: { customer: null } }, {}],
    ['filter', { filter: 'acme' }, {}],
  ])('is a 400 that names %s', async (param, body, headers) => {
    for (const ask of [chat, search]) {
      const answer = await ask(space, body, headers as Record<string, string>)
      expect(answer.status).toBe(400)
      expect(param.startsWith(answer.body.error.param)).toBe(true)
    }
    expect(sent).toEqual([])
  })
})
