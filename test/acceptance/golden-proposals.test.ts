import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createPerson } from '../harness/people.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../upstream/upstream.ts'

/** Golden questions from documents, with a scripted model. */

let upstream: Upstream
let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace
/** Passages that reached the model. */
let passages: { document: string; text: string }[] = []
let reply: (passage: string) => UpstreamReply

const texts = {
  'tickets.txt': 'A ticket for adults costs 12 euros at the counter of the museum.',
  'garden.txt': 'The garden of the museum is open from May to September every year.',
  'staff.txt': 'Forty people work in the kitchen of the museum restaurant today.',
}

beforeAll(async () => {
  upstream = await startUpstream(({ body }) => {
    const { messages } = JSON.parse(body) as { messages: { content: string }[] }
    const passage = JSON.parse(messages.at(-1)!.content)
    passages.push(passage)
    return reply(passage.text)
  })
  const deployments = [{ provider: 'p', prices: { input: '1', output: '2' } }]
  const provider = { id: 'p', flavour: 'generic', baseUrl: `${upstream.url}/v1`, apiKey: 'sk', hosting: 'us' }
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [{ ...provider, models: 'declared' }],
      models: [{ id: 'large', maxOutputTokens: 1_000, contextTokens: 200_000, deployments }],
    },
  })
  organisation = await portico.createOrganisation({ markupPercent: '50' })
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})
beforeEach(async () => {
  passages = []
  reply = (text) =>
    json({ question: `What about ${text.split(' ')[1]}?`, facts: ['12 euros', 'from May to September'] })
  space = await createSpace('large')
})

const json = (value: object) => scriptedTurn(`Here it is:\n${JSON.stringify(value)}`)
const pathOf = ({ id }: TestSpace) => `/api/spaces/${id}/golden-questions/proposals`
const make = (count: number, of = space) => portico.operator('POST', pathOf(of), { count })

async function createSpace(model: string, files: Record<string, string> = texts): Promise<TestSpace> {
  const made = await portico.createSpace(organisation, { model })
  for (const [name, text] of Object.entries(files)) {
    await uploadReady(organisation, made.id, text, name)
  }
  return made
}

describe('golden questions from documents', () => {
  it('are written by the model of the Space, with facts of the passage only, and billed', async () => {
    const offer = expectStatus(await portico.operator('GET', pathOf(space)), 200)
    // 600 and 120 tokens, and the markup.
    expect(offer).toEqual({ model: 'large', callsModel: true, maximum: 10, estimatedCostUsd: '0.00126' })
    const { items, costUsd } = expectStatus(await make(3), 200)
    expect(passages.map(({ document }) => document).toSorted()).toEqual(Object.keys(texts).toSorted())
    const facts = Object.fromEntries(
      items.map(({ expectedDocuments, expectedFacts }: (typeof items)[number]) => [
        expectedDocuments[0].name,
        expectedFacts,
      ]),
    )
    expect(facts).toEqual({
      'tickets.txt': ['12 euros'],
      'garden.txt': ['from May to September'],
      'staff.txt': [],
    })
    // Three calls of 90 and 30 tokens, and the markup.
    expect(costUsd).toBe('0.000675')
    const usage = `/api/organisations/${organisation.id}/usage?by=model,surface,space`
    await expect
      .poll(async () => expectStatus(await portico.operator('GET', usage), 200).rows)
      .toContainEqual(
        expect.objectContaining({ model: 'large', surface: 'space_chat', spaceId: space.id, billedUsd: costUsd }),
      )
  })

  it('are not stored before a person adds one, which is a golden question then', async () => {
    const { items } = expectStatus(await make(1), 200)
    const path = `/api/spaces/${space.id}/golden-questions`
    const stored = async () => expectStatus(await portico.operator('GET', path), 200).items
    expect(await stored()).toEqual([])
    const [{ question, expectedDocuments, expectedFacts }] = items
    const given = { messages: [{ role: 'user', content: question }], expectedDocuments, expectedFacts }
    expectStatus(await portico.operator('POST', path, given), 201)
    expect(await stored()).toMatchObject([{ expectedDocuments: [{ ...expectedDocuments[0], exists: true }] }])
  })

  it('leave out passages that answer nothing, and replies that are no question', async () => {
    reply = (text) =>
      text.includes('ticket')
        ? json({ question: 'What does a ticket cost?', facts: ['12 euros'] })
        : text.includes('garden')
          ? json({ question: null, facts: [] })
          : scriptedTurn('I cannot do that.')
    const { items } = expectStatus(await make(3), 200)
    expect(items.map(({ question }: { question: string }) => question)).toEqual(['What does a ticket cost?'])
  })

  it('end at a failure of the model, with what was made before', async () => {
    reply = () => ({ status: 400, body: '{"error":{"message":"no"}}' })
    expect((await make(2)).status).toBeGreaterThanOrEqual(400)
    expect(passages.length).toBeLessThanOrEqual(3)
  })

  it('are refused for the built-in model, which writes none', async () => {
    const offline = await createSpace('portico/offline', {})
    expect(expectStatus(await portico.operator('GET', pathOf(offline)), 200)).toMatchObject({
      callsModel: false,
      estimatedCostUsd: '0',
    })
    expectStatus(await make(2, offline), 409)
  })

  it('are for members of the organisation, at most ten at once', async () => {
    expect((await make(11)).status).toBe(400)
    const person = { email: 'm@example.org', organisationId: organisation.id, role: 'member' } as const
    expect((await (await createPerson(portico, person)).call('POST', pathOf(space), { count: 1 })).status).toBe(200)
    const other = await portico.createOrganisation()
    const stranger = await createPerson(portico, { email: 's@example.org', organisationId: other.id, role: 'member' })
    expect((await stranger.call('POST', pathOf(space), { count: 1 })).status).toBe(404)
  })

  it('of a Space without documents are none', async () => {
    expect(expectStatus(await make(3, await createSpace('large', {})), 200)).toEqual({ items: [], costUsd: '0' })
  })
})
