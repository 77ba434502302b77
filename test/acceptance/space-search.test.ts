import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Browser, createPerson } from '../harness/people.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

/** The retrieval tester next to the chat, with a scripted model that records what the chat sends to it. */

interface Turn {
  role: 'user' | 'assistant'
  content: string
}

interface Weighted {
  word: string
  weight: number
}

interface Candidate {
  number: number | null
  outcome: string
  documentId: string
  text: string
}

let portico: TestPortico
let upstream: Upstream
let organisation: TestOrganisation
let space: TestSpace
let small: TestSpace
let member: Browser
let stranger: Browser
let sent: { messages: { content: string }[] }[] = []

beforeAll(async () => {
  upstream = await startUpstream(({ body }) => {
    sent.push(JSON.parse(body))
    return scriptedTurn('Yes.')
  })
  const deployments = [{ provider: 'p', prices: { input: '1', output: '2' } }]
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        { id: 'p', flavour: 'generic', baseUrl: `${upstream.url}/v1`, apiKey: 'sk', hosting: 'us', models: 'declared' },
      ],
      models: [
        { id: 'large', maxOutputTokens: 1_000, contextTokens: 200_000, deployments },
        { id: 'small', maxOutputTokens: 500, contextTokens: 1_500, deployments },
      ],
    },
  })
  organisation = await portico.createOrganisation()
  const other = await portico.createOrganisation({ name: 'Other organisation' })
  const settings = { maximumPassages: 6, wholeSpaceTokens: 0, queryRewriting: 'off' }
  space = await portico.createSpace(organisation, { model: 'large', settings })
  small = await portico.createSpace(organisation, { model: 'small', settings })
  member = await createPerson(portico, { email: 'm@example.org', organisationId: organisation.id })
  stranger = await createPerson(portico, { email: 's@example.org', organisationId: other.id, role: 'administrator' })
  const rooms = Array.from(
    { length: 12 },
    (_, n) => `Room ${n}: ${'tickets of the museum are checked here. '.repeat(20)}`,
  )
  for (const target of [space, small]) {
    await upload(target, 'Tickets for adults cost twelve euros at the museum.', 'tickets.txt')
    await upload(target, 'The pond of the museum garden holds forty herons.', 'herons.txt')
    await upload(target, rooms.join('\n\n'), 'rooms.txt')
  }
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})
beforeEach(() => void (sent = []))

async function upload({ id }: TestSpace, content: string, name: string) {
  const form = uploadForm(content, name)
  const document = expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${id}`, form), 201)
  expect(await waitForDocument(organisation.client, document.id)).toMatchObject({ status: 'ready' })
}

const ask = (content: string): Turn[] => [{ role: 'user', content }]

async function search(target: TestSpace, messages: Turn[], more = {}) {
  return expectStatus(await member.call('POST', `/api/spaces/${target.id}/search`, { messages, ...more }), 200)
}

async function chat(target: TestSpace, messages: Turn[]) {
  const path = `/v1/endpoints/${target.endpointId}/chat`
  return expectStatus(await organisation.client('POST', path, { messages }), 200)
}

function usedOf(candidates: Candidate[]): Candidate[] {
  return candidates.filter(({ number }) => number !== null).toSorted((left, right) => left.number! - right.number!)
}

describe('the retrieval tester', () => {
  test.each([
    ['with room for every passage', () => space],
    ['with a small context window', () => small],
  ])('shows exactly what the model of the chat receives, %s', async (_case, target) => {
    const messages = ask('What do tickets for adults cost at the museum?')
    const result = await search(target(), messages)
    const { references } = await chat(target(), messages)
    const used = usedOf(result.candidates)
    expect(used.length).toBeGreaterThan(0)
    expect(sent[0]!.messages.at(-1)!.content).toContain(result.context)
    const numbers = [...result.context.matchAll(/<source id="(\d+)"/g)].map(([, id]) => Number(id))
    expect([...new Set(used.map(({ number }) => number))]).toEqual(numbers)
    expect(result.passages.map(({ number }: { number: number }) => number)).toEqual(numbers)
    for (const { text } of used) expect(result.context).toContain(text)
    expect([...new Set(used.map(({ documentId }) => documentId))]).toEqual(
      references.map(({ documentId }: { documentId: string }) => documentId),
    )
  })

  test('states why a candidate is not used', async () => {
    const messages = ask('Where are tickets of the museum checked?')
    const outcomes = async (target: TestSpace) =>
      (await search(target, messages)).candidates.map(({ outcome }: Candidate) => outcome)
    expect(new Set(await outcomes(space))).toEqual(new Set(['used', 'below_limit']))
    expect(new Set(await outcomes(small))).toEqual(new Set(['used', 'below_limit', 'context_limit']))
  })

  test('searches the words of earlier turns with less weight than those of the question, as the chat does', async () => {
    const messages: Turn[] = [
      ...ask('How many herons live in the pond of the museum garden?'),
      { role: 'assistant', content: 'Forty [1].' },
      ...ask('And in winter, does it change?'),
    ]
    const result = await search(space, messages, { candidates: 1 })
    expect(result.query).toMatchObject({
      text: 'And in winter, does it change?',
      isRewritten: false,
      context: [
        { text: messages[0]!.content, weight: 0.2 },
        { text: 'Forty.', weight: 0.2 },
      ],
    })
    const weights = new Map(result.query.words.map(({ word, weight }: Weighted) => [word, weight]))
    expect(weights.get('winter')).toBe(1)
    expect(weights.get('herons')).toBeCloseTo(0.2)
    expect(weights.get('1')).toBeUndefined()
    expect(result.candidates).toMatchObject([{ rank: 1, number: 1, documentName: 'herons.txt' }])
    await chat(space, messages)
    expect(sent[0]!.messages.at(-1)!.content).toContain(result.context)
  })

  test('searches a question that changes the topic by its own words first', async () => {
    const messages: Turn[] = [
      ...ask('How many herons live in the pond of the museum garden?'),
      { role: 'assistant', content: 'The pond of the museum garden holds forty herons.' },
      ...ask('How much are tickets for adults?'),
    ]
    const { candidates } = await search(space, messages, { candidates: 1 })
    expect(candidates).toMatchObject([{ documentName: 'tickets.txt' }])
  })

  test('answers a query without words, and a Space without documents, with no candidates', async () => {
    expect(await search(space, ask('?!'))).toMatchObject({ candidateCount: 0, candidates: [], context: '' })
    const empty = await portico.createSpace(organisation, { model: 'large' })
    expect(await search(empty, ask('tickets'))).toMatchObject({ candidateCount: 0, candidates: [], context: '' })
  })

  test('costs nothing with an embedder of this process', async () => {
    const usage = async () => (await portico.operator('GET', `/api/organisations/${organisation.id}/budget`)).body
    const before = await usage()
    await search(space, ask('tickets'))
    expect(await usage()).toEqual(before)
  })

  test('fails where the chat would fail, with the reason instead of the words for visitors', async () => {
    const poor = await portico.createOrganisation({ name: 'Poor', monthlyBudgetUsd: '0' })
    const { id } = await portico.createSpace(poor, { model: 'large' })
    const { status, body } = await portico.operator('POST', `/api/spaces/${id}/search`, { messages: ask('tickets') })
    expect([status, body.error.message]).toEqual([402, 'The organisation has no budget. The operator sets it.'])
  })

  test('states when a budget that is used up begins again', async () => {
    const spender = await portico.createOrganisation({ name: 'Spender' })
    const { id, endpointId } = await portico.createSpace(spender, { model: 'large' })
    const question = { messages: ask('tickets') }
    expectStatus(await spender.client('POST', `/v1/endpoints/${endpointId}/chat`, question), 200)
    const budget = { monthlyBudgetUsd: '0.000000001' }
    expectStatus(await portico.operator('PATCH', `/api/organisations/${spender.id}`, budget), 200)
    const { status, body } = await portico.operator('POST', `/api/spaces/${id}/search`, question)
    expect([status, body.error.message]).toEqual([402, expect.stringMatching(/exhausted; the budget resets at \d{4}-/)])
  })

  test('is a 404 for another organisation, and counts towards the limits of the organisation', async () => {
    const path = `/api/spaces/${space.id}/search`
    const body = { messages: ask('tickets') }
    const refused = await stranger.call('POST', path, body)
    expect([refused.status, refused.body.error.code]).toEqual([404, 'space_not_found'])
    const limited = await portico.createOrganisation({ name: 'Limited', limits: { requestsPerMinute: 1 } })
    const { id } = await portico.createSpace(limited, { model: 'large' })
    const statuses = []
    for (let n = 0; n < 2; n++) statuses.push((await portico.operator('POST', `/api/spaces/${id}/search`, body)).status)
    expect(statuses).toEqual([200, 429])
  })

  test.each([
    [{ messages: ask('x'.repeat(10_001)) }, 'messages.0.content'],
    [{ messages: Array.from({ length: 51 }, () => ask('x')[0]) }, 'messages'],
    [{ messages: [{ role: 'assistant', content: 'x' }] }, 'messages'],
    [{ messages: ask('x'), candidates: 51 }, 'candidates'],
    [{ messages: ask('x'), candidates: 0 }, 'candidates'],
    [{}, 'messages'],
  ])('rejects a body beyond its limits (%#)', async (body, param) => {
    const { status, body: answer } = await member.call('POST', `/api/spaces/${space.id}/search`, body)
    expect([status, answer.error.param]).toEqual([400, param])
  })
})
