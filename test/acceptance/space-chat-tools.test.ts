import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { SseParser } from '../../src/platform/kernel/index.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'
import { readToolRequest, scriptedTurn, type ScriptedTurn, type ToolRequest } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

let portico: TestPortico
let upstream: Upstream
let organisation: TestOrganisation
let space: TestSpace
let other: TestSpace
let otherDocumentId: string
let requests: ToolRequest[] = []
let plan: (request: ToolRequest, round: number) => ScriptedTurn | Promise<ScriptedTurn> = () => 'Yes.'

const tools = { 'service-enable-agentic-workflow': 'true', 'service-enable-inline-sources': 'true' }
const question = [{ role: 'user', content: 'How much revenue did the north make?' }]
/** Enough text for several passages. */
const handbook = `# Rules\n\n${'Open on weekdays. '.repeat(200)}\n\n# Returns\n\nReturns within 30 days [1].\n`
const sales = `Region,Month,Revenue\nNorth,May,"1,250.50"\nSouth,May,900\nNorth,June,"2,000.25"\nSouth,June,800\n`

beforeAll(async () => {
  upstream = await startUpstream(async ({ body }) => {
    const request = readToolRequest(body)
    requests.push(request)
    return scriptedTurn(await plan(request, requests.length - 1))
  })
  const deployments = [{ provider: 'p', prices: { input: '1', output: '2' } }]
  const limits = { maxOutputTokens: 1_000, contextTokens: 200_000 }
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        { id: 'p', flavour: 'generic', baseUrl: `${upstream.url}/v1`, apiKey: 'sk', hosting: 'us', models: 'declared' },
      ],
      models: [
        { id: 'm', ...limits, deployments },
        { id: 'plain', ...limits, deployments, traits: { tools: false } },
      ],
    },
  })
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation, { model: 'm', settings: { maximumPassages: 2, wholeSpaceTokens: 0 } })
  other = await portico.createSpace(organisation, { model: 'm' })
  await upload(space, sales, 'sales.csv', { department: 'sales', year: 2024 })
  await upload(space, handbook, 'handbook.md')
  await upload(space, 'A second list of sales offices: Oslo and Rome.', 'offices.txt')
  otherDocumentId = await upload(other, 'Name,Code\nsecret,4711\n', 'secret.csv')
  // On a busy machine the first process for tables may start too late for the first answer.
  await vi.waitFor(async () => expect((await stream()).map(({ data }) => data.source)).toContain('TABLES'), {
    timeout: 60_000,
    interval: 200,
  })
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})
beforeEach(() => {
  requests = []
  plan = () => 'Yes.'
})

async function upload(target: TestSpace, text: string, name: string, metadata?: object): Promise<string> {
  const form = uploadForm(text, name)
  if (metadata) form.set('metadata', JSON.stringify(metadata))
  const { id } = expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${target.id}`, form), 201)
  expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
  return id
}

const ask = (target = space, headers: Record<string, string> = tools, from = organisation) =>
  from.client('POST', `/v1/endpoints/${target.endpointId}/chat`, { messages: question }, headers)

async function stream(target = space) {
  const response = await fetch(`${portico.url}/v1/endpoints/${target.endpointId}/chat`, {
    method: 'POST',
    headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json', ...tools },
    body: JSON.stringify({ messages: question, streaming: true }),
  })
  const parser = new SseParser({ maximumEventBytes: 1_000_000 })
  const events = [...parser.push(new Uint8Array(await response.arrayBuffer())), ...parser.end()]
  return events.map(({ event, data }) => ({ event, data: JSON.parse(data) }))
}

/** Calls one tool, then answers with its result. Returns the result. */
async function use(name: string, args: object): Promise<string> {
  plan = (_, round) => (round === 0 ? [{ name, args }] : 'Done.')
  expectStatus(await ask(), 200)
  return requests[1]!.results[0]!
}

const numberOf = (text: string, title: string) => new RegExp(`<source id="(\\d+)" title="${title}"`).exec(text)?.[1]

describe('a plan of tools', () => {
  it('searches, lists, opens, finds, queries and computes, and cites the results', async () => {
    plan = ({ results }, round) => {
      if (round === 0) {
        return [
          { name: 'search_uploaded_files', args: { query: 'returns', name: 'handbook' } },
          { name: 'list_documents', args: {} },
          { name: 'open_document', args: { document: 'handbook.md', heading: 'Returns' } },
          { name: 'find_in_document', args: { document: 'handbook', text: 'WITHIN  30 days' } },
        ]
      }
      if (round === 1) {
        const sql = "select sum(Revenue) as total from t1 where Region = 'North'"
        return [
          { name: 'describe_tables', args: { documents: ['sales.csv'] } },
          { name: 'query_tables', args: { documents: ['sales.csv'], sql } },
          { name: 'calculate', args: { expression: '3250.75 / 2' } },
          { name: 'current_date', args: {} },
        ]
      }
      const sum = /3250\.75/.exec(results[5]!)![0]
      return `North made ${sum} [${numberOf(results[5]!, 'sales.csv')}]. Returns: 30 days [${numberOf(results[3]!, 'handbook.md')}].`
    }
    const events = await stream()
    expect(events.filter(({ event }) => event === 'message_source').map(({ data }) => data)).toEqual([
      { source: 'UPLOADED_FILES', status: 'RETRIEVED', count: 1 },
      { source: 'TABLES', status: 'RETRIEVED', count: 1 },
      { source: 'UPLOADED_FILES', status: 'RETRIEVED', count: expect.any(Number) },
      { source: 'DOCUMENT_LIST', status: 'RETRIEVED', count: 3 },
      { source: 'DOCUMENT', status: 'RETRIEVED', count: 1 },
      { source: 'DOCUMENT_FIND', status: 'RETRIEVED', count: 1 },
      { source: 'TABLES', status: 'RETRIEVED', count: 1 },
      { source: 'TABLE_QUERY', status: 'COMPUTED', count: 1 },
      { source: 'CALCULATOR', status: 'COMPUTED', count: 1 },
      { source: 'CURRENT_DATE', status: 'COMPUTED', count: 1 },
    ])
    const text = events.flatMap(({ event, data }) => (event === 'assistant_write' ? data.delta : []))
    expect(text.join('')).toBe('North made 3250.75 [1]. Returns: 30 days [2].')
    expect(events.at(-2)).toEqual({
      event: 'references',
      data: {
        references: [
          { id: 1, title: 'sales.csv' },
          { id: 2, title: 'handbook.md' },
        ],
      },
    })
    expect(requests).toHaveLength(3)
    const [search, list, open, find] = requests[1]!.results as [string, string, string, string]
    expect(search).not.toContain('sales.csv')
    expect(list).toMatch(
      /handbook\.md.*\n.*offices\.txt.*\n.*sales\.csv  \(csv, \d+ passages\)  \{"department":"sales"/,
    )
    expect(open).toContain('Returns within 30 days [1].')
    expect(open).not.toContain('Open on weekdays')
    expect(find).toContain('1 passages contain the text')
    expect(requests[2]!.results[6]).toBe('3250.75 / 2 = 1625.375')
    expect(requests[2]!.results[7]).toMatch(/^\w+day, \d{4}-\d{2}-\d{2} \d{2}:\d{2}, time zone UTC$/)
  })

  it('begins with the rows of the tables that the first search found', async () => {
    expectStatus(await ask(), 200)
    expect(requests[0]!.prompt).toContain('Table t1: 4 rows. Columns: row_number INTEGER, Region TEXT')
    expect(requests[0]!.prompt).toContain('3 | North | June | 2000.25 | 2,000.25')
  })

  it('filters a search by metadata and lists documents by it', async () => {
    const filtered = await use('search_uploaded_files', {
      query: 'sales',
      metadata: { department: 'sales', year: 2024 },
    })
    // The prompt of a small Space has all files; the search returns the numbers of those that it found.
    const prompt = requests[0]!.prompt
    const titles = new Map(
      [...prompt.matchAll(/<source id="(\d+)" title="([^"]+)"/g)].map(([, id, title]) => [id, title]),
    )
    const numbers = /already given to you: ([\d, ]+)/.exec(filtered)![1]!.split(', ')
    expect([...new Set(numbers.map((number) => titles.get(number)))]).toEqual(['sales.csv'])
    requests = []
    expect(await use('list_documents', { metadata: { department: 'law' } })).toBe('No document matches.')
  })
})

describe('arguments of a model', () => {
  it('never reach a document of another Space, by id or by name', async () => {
    for (const document of [otherDocumentId, 'secret.csv', `${other.id}`]) {
      for (const [name, args] of [
        ['open_document', { document }],
        ['find_in_document', { document, text: '4711' }],
        ['describe_tables', { documents: [document] }],
        ['query_tables', { documents: [document], sql: 'select * from t1' }],
      ] as const) {
        requests = []
        const result = await use(name, args)
        expect(result).toContain('There is no document with this name or id')
        expect(result).not.toMatch(/4711|secret/)
      }
    }
    requests = []
    expect(await use('list_documents', { name: 'secret' })).toBe('No document matches.')
  })

  it.each([
    ['list_documents', { spaceId: 'x' }],
    ['list_documents', { offset: -1 }],
    ['list_documents', { metadata: { a: { b: 1 } } }],
    ['open_document', {}],
    ['open_document', { document: ['sales.csv'] }],
    ['open_document', { document: 'sales.csv', page: 1, row: 2 }],
    ['open_document', { document: 'sales.csv', row: 1e300 }],
    ['open_document', { document: 'sales.csv', heading: 'no such heading' }],
    ['open_document', { document: 's' }],
    ['find_in_document', { document: 'sales.csv', text: 'x'.repeat(1_000) }],
    ['find_in_document', { document: 'sales.csv', text: '' }],
    ['query_tables', { documents: [], sql: 'select 1' }],
    ['query_tables', { documents: Array(10).fill('sales.csv'), sql: 'select 1' }],
    ['query_tables', { documents: ['sales.csv'], sql: 'drop table t1' }],
    ['query_tables', { documents: ['sales.csv'], sql: "select 1; attach '/etc/passwd' as p" }],
    ['calculate', { expression: '9^9^9^9' }],
    ['calculate', { expression: `${'('.repeat(400)}1` }],
    ['calculate', { expression: 'constructor(1)' }],
    ['calculate', { expression: '1/0' }],
    ['rm', {}],
  ])('that are wrong get a reply and a FAILED event, and the answer continues: %s %j', async (name, args) => {
    plan = (_, round) => (round === 0 ? [{ name, args }] : 'Done.')
    const events = await stream()
    const used = events.filter(({ event }) => event === 'message_source').at(-1)!.data
    expect(used).toMatchObject({ status: 'FAILED', count: 0 })
    expect(events.at(-1)!.event).toBe('done')
    expect(requests[1]!.results[0]!.length).toBeGreaterThan(10)
  })

  it('are plain text for find_in_document: a pattern does not match', async () => {
    expect(await use('find_in_document', { document: 'sales.csv', text: '(a+)+$' })).toContain('0 passages')
  })
})

describe('the limits of an answer', () => {
  it('end the calls of tools at the cost bound of the Space, and the model answers with what it has', async () => {
    const bounded = await portico.createSpace(organisation, { model: 'm', settings: { maximumToolCostUsd: 0.00001 } })
    plan = ({ toolChoice }) => (toolChoice === 'none' ? 'Enough.' : [{ name: 'current_date', args: {} }])
    expect(expectStatus(await ask(bounded), 200).content).toBe('Enough.')
    // The first call costs more than the bound.
    expect(requests).toHaveLength(2)
    expect(
      await portico.operator('PATCH', `/api/spaces/${bounded.id}`, { settings: { maximumToolCostUsd: -1 } }),
    ).toMatchObject({
      status: 400,
      body: { error: { param: 'settings.maximumToolCostUsd' } },
    })
  })

  it('end the rounds', async () => {
    plan = ({ toolChoice }) => (toolChoice === 'none' ? 'Enough.' : [{ name: 'current_date', args: {} }])
    expect(expectStatus(await ask(), 200).content).toBe('Enough.')
    expect(requests).toHaveLength(7)
  })

  it('give a model that calls tools although they are forbidden one more turn', async () => {
    const date = [{ name: 'current_date', args: {} }]
    plan = (_, round) => (round < 7 ? date : 'Enough.')
    expect(expectStatus(await ask(), 200).content).toBe('Enough.')
    expect(requests).toHaveLength(8)
    expect(requests[7]!.toolChoice).toBe('none')
    expect(requests[7]!.results.at(-1)).toBe('No more tools can be called. Answer now with what you have.')
    requests = []
    plan = () => date
    expect(await ask()).toMatchObject({ status: 502, body: { error: { code: 'upstream_error' } } })
    expect(requests).toHaveLength(8)
  })

  it('refuse more than four calls at a time', async () => {
    plan = (_, round) => (round === 0 ? Array.from({ length: 6 }, () => ({ name: 'current_date', args: {} })) : 'Done.')
    expectStatus(await ask(), 200)
    expect(requests[1]!.results.filter((result) => result.startsWith('Only 4 calls'))).toHaveLength(2)
  })

  it('end with the client: no further call of the model', async () => {
    const client = new AbortController()
    let toolCalled = () => {}
    const called = new Promise<void>((resolve) => (toolCalled = resolve))
    plan = async (_, round) => {
      if (round > 0) return 'Never.'
      client.abort()
      toolCalled()
      return [{ name: 'current_date', args: {} }]
    }
    const gone = fetch(`${portico.url}/v1/endpoints/${space.endpointId}/chat`, {
      method: 'POST',
      headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json', ...tools },
      body: JSON.stringify({ messages: question, streaming: true }),
      signal: client.signal,
    }).then((response) => response.text())
    await expect(gone).rejects.toThrow()
    await called
    await upstream.quiet()
    // A later request is served, so the first one has ended.
    plan = () => 'Yes.'
    expectStatus(await ask(space, {}), 200)
    expect(requests.filter(({ results }) => results.length > 0)).toEqual([])
  })
})

it('a model without tools answers without the workflow, and a header reports it', async () => {
  const plain = await portico.createSpace(organisation, { model: 'plain' })
  for (const streaming of [false, true]) {
    const body = { messages: question, streaming }
    const answer = await organisation.client('POST', `/v1/endpoints/${plain.endpointId}/chat`, body, tools)
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.headers.get('x-agentic-workflow')).toBe('unavailable')
  }
  expect(requests.map(({ toolNames }) => toolNames)).toEqual([[], []])
  expect((await ask()).headers.get('x-agentic-workflow')).toBeNull()
  expect((await ask(plain, {})).headers.get('x-agentic-workflow')).toBeNull()
})
