import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeTinyCrossEncoder } from '../../scripts/make-tiny-onnx.ts'
import { isOnnxRuntimeInstalled } from '../../src/documents/retrieval/index.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  expectStatus,
  removeFolder,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../upstream/upstream.ts'

/** A service whose reranker is a provider's model; the provider also has a chat model that rewrites questions. */

interface RerankBody {
  model: string
  query: string
  documents: string[]
}

let portico: TestPortico
let upstream: Upstream
let organisation: TestOrganisation
let space: TestSpace
let reranks: RerankBody[] = []
/** The reply to a rerank request; null: the texts about mornings are the best. */
let reply: ((body: RerankBody) => UpstreamReply) | null = null
const json = { 'content-type': 'application/json' }
const rewritten = 'When does the harbour of the island open?'

function rank({ documents }: RerankBody): UpstreamReply {
  const results = documents.map((text, index) => ({ index, relevance_score: text.includes('morning') ? 0.9 : 0.1 }))
  const meta = { billed_units: { search_units: 1 } }
  return { headers: json, body: JSON.stringify({ results: results.toReversed(), meta }) }
}

/** Rewrites the question, and answers every other call with `Yes.` */
function complete(body: string): UpstreamReply {
  const { messages } = JSON.parse(body) as { messages: { content: string }[] }
  const isRewriting = messages[0]!.content.startsWith('You prepare search queries.')
  const content = isRewriting ? JSON.stringify({ question: rewritten, variants: ['harbour hours'] }) : 'Yes.'
  return scriptedTurn(content)
}

const texts = [
  ['The harbour of the island: harbour rules, harbour fees, harbour hours on demand.', 'rules.txt'],
  ['The harbour opens at six in the morning.', 'opening.txt'],
  ['The harbour has a restaurant near the harbour gate.', 'restaurant.txt'],
] as const

beforeAll(async () => {
  upstream = await startUpstream(({ path, body }) => {
    if (!path.endsWith('/rerank')) return complete(body)
    const request = JSON.parse(body) as RerankBody
    reranks.push(request)
    return (reply ?? rank)(request)
  })
  const provider = { baseUrl: upstream.url, apiKey: 'sk-secret-of-this-test', hosting: 'us', models: 'declared' }
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: [
        { ...provider, id: 'ranker', format: 'cohere' },
        { ...provider, id: 'chatter', flavour: 'generic', baseUrl: `${upstream.url}/v1` },
      ],
      models: [
        {
          id: 'rerank-1',
          kind: 'rerank',
          deployments: [{ provider: 'ranker', prices: { input: '0', output: '2000' } }],
        },
        {
          id: 'large',
          maxOutputTokens: 1_000,
          contextTokens: 200_000,
          deployments: [{ provider: 'chatter', prices: { input: '1', output: '2' } }],
        },
      ],
      // A busy machine needs more than a second for a comparison.
      reranker: { model: 'rerank-1', timeoutMs: 5_000 },
    },
  })
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation, {
    model: 'large',
    settings: { maximumPassages: 1, wholeSpaceTokens: 0 },
  })
  for (const [text, name] of texts) {
    await uploadReady(organisation, space.id, text, name)
  }
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})
beforeEach(() => {
  reranks = []
  reply = null
})

type Turn = { role: 'user' | 'assistant'; content: string }
const question: Turn[] = [{ role: 'user', content: 'harbour hours on the island' }]

async function explain(messages = question) {
  return expectStatus(await portico.operator('POST', `/api/spaces/${space.id}/search`, { messages }), 200)
}

async function ask(messages = question, client = organisation.client) {
  return expectStatus(await client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages }), 200)
}

async function countOf(outcome: string): Promise<number> {
  const text = await (await fetch(portico.metricsUrl)).text()
  return Number(new RegExp(`^portico_reranks_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
}

/** The passages that the model received with the last question. */
function sentPassages(): string {
  return upstream.requests.findLast(({ path }) => path.endsWith('/chat/completions'))!.body
}

async function shown() {
  // The page of an operator shows a report of two seconds.
  const at = Date.now()
  const load = async () => expectStatus(await portico.operator('GET', '/api/console/system'), 200)
  await expect.poll(async () => Date.parse((await load()).at) > at, { timeout: 20_000 }).toBe(true)
  return (await load()).search.reranker as Record<string, unknown>
}

describe("a provider's reranker", () => {
  it('is on the page of the system with its state and its latency', async () => {
    expect(await shown()).toEqual({
      label: 'rerank-1 of a provider',
      state: 'unused',
      outcome: null,
      at: null,
      latencyP50Ms: null,
      latencyP95Ms: null,
    })
    await explain()
    const used = { outcome: 'reranked', at: expect.any(String), latencyP50Ms: expect.any(Number) }
    expect(await shown()).toMatchObject({ state: 'ready', ...used })
    reply = () => ({ status: 400, headers: json, body: '{"message":"no"}' })
    await explain()
    expect(await shown()).toMatchObject({ state: 'failing', ...used, outcome: 'failed' })
  })

  it('chooses the passage that the model receives, and the tester shows why it moved', async () => {
    const { candidates, reranking, timings } = await explain()
    expect(reranking).toEqual({
      label: 'rerank-1 of a provider',
      text: question[0]!.content,
      outcome: 'reranked',
      passages: 3,
    })
    expect(candidates[0]).toMatchObject({ documentName: 'opening.txt', rank: 1, rerankScore: 0.9, outcome: 'used' })
    expect(candidates[0].fusedRank).toBeGreaterThan(1)
    expect(candidates[1]).toMatchObject({ fusedRank: 1, rerankScore: 0.1, outcome: 'below_limit' })
    expect(timings.rerank).toBeGreaterThan(0)
    await ask()
    expect(sentPassages()).toContain('at six in the morning')
    expect(sentPassages()).not.toContain('harbour fees')
    expect(reranks).toHaveLength(2)
    expect(reranks[0]).toMatchObject({ model: 'rerank-1', query: question[0]!.content })
    expect(reranks[0]!.documents).toContain('opening.txt\nThe harbour opens at six in the morning.')
  })

  it('compares a follow-up question once, as the model has rewritten it', async () => {
    const followUp: Turn[] = [
      { role: 'user', content: 'Is there a harbour on the island?' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'And when does it open?' },
    ]
    await ask(followUp)
    expect(reranks.map(({ query }) => query)).toEqual([rewritten])
    expect(sentPassages()).toContain('at six in the morning')
    // The tester does not rewrite: that would be billed.
    expect((await explain(followUp)).reranking.text).toBe('Is there a harbour on the island?\nAnd when does it open?')
  })

  it('is billed to the organisation of the Space by search unit', async () => {
    const payer = await portico.createOrganisation()
    const own = await portico.createSpace(payer, { settings: { wholeSpaceTokens: 0 } })
    for (const [text, name] of texts) await uploadReady(payer, own.id, text, name)
    const body = { messages: question }
    expectStatus(await payer.client('POST', `/v1/endpoints/${own.endpointId}/chat`, body), 200)
    expect(reranks).toHaveLength(1)
    const today = new Date().toISOString().slice(0, 10)
    const { rows } = expectStatus(
      await portico.operator('GET', `/api/organisations/${payer.id}/usage?from=${today}&to=${today}&by=model`),
      200,
    )
    const row = rows.find(({ model }: { model: string }) => model === 'rerank-1')
    expect(row).toMatchObject({ requests: 1, completionTokens: 0 })
    expect(Number(row.billedUsd)).toBeCloseTo(0.002, 6)
  })

  it('is no model for clients', async () => {
    const { data } = expectStatus(await organisation.client('GET', '/v1/gateway/models'), 200)
    expect(data.map(({ id }: { id: string }) => id)).not.toContain('rerank-1')
    const completion = { model: 'rerank-1', messages: question }
    expect((await organisation.client('POST', '/v1/gateway/chat/completions', completion)).status).toBe(404)
  })

  // All other failures: src/gateway/providers/rerank.test.ts and src/documents/retrieval/rerankers/rerank-stage.test.ts.
  it.each<[string, string, () => UpstreamReply]>([
    ['stops in its answer', 'timeout', () => ({ headers: json, body: '{"results":[', stallAfterBytes: 5 })],
    ['fails', 'failed', () => ({ status: 500, headers: json, body: '{"message":"sk-secret-of-this-test broke"}' })],
  ])('that %s leaves the order of the search, and the answer', async (_name, outcome, given) => {
    // Another organisation each: none of them rests because of the failures before.
    const own = await portico.createOrganisation()
    const place = await portico.createSpace(own, { settings: { maximumPassages: 1, wholeSpaceTokens: 0 } })
    for (const [text, name] of texts) await uploadReady(own, place.id, text, name)
    const before = await countOf(outcome)
    reply = given
    const body = { messages: question }
    expectStatus(await own.client('POST', `/v1/endpoints/${place.endpointId}/chat`, body), 200)
    expect(await countOf(outcome)).toBe(before + 1)
    // Each comparison without an answer takes the whole of its time.
    if (outcome === 'timeout') return
    const found = expectStatus(await portico.operator('POST', `/api/spaces/${place.id}/search`, body), 200)
    expect(found.candidates[0]).toMatchObject({ documentName: 'rules.txt', rank: 1, fusedRank: 1, rerankScore: null })
    expect(JSON.stringify(found)).not.toContain('sk-secret')
  })
})

const onnx = isOnnxRuntimeInstalled()

describe.runIf(onnx)(`a local cross-encoder${onnx ? '' : ' (skipped: run `npm run install:onnx` first)'}`, () => {
  it('orders passages by meaning, without a provider and without cost', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'portico-reranker-'))
    makeTinyCrossEncoder(folder)
    await using local = await startPortico({ settings: { reranker: { folder } } })
    expect(local.describe()).toContain('reranker   local model')
    const own = await local.createOrganisation()
    const place = await local.createSpace(own)
    for (const [text, name] of [
      ['The vacation vacation rules of the house.', 'rules.txt'],
      ['An automobile of the physician.', 'car.txt'],
    ] as const)
      await uploadReady(own, place.id, text, name)
    const messages = [{ role: 'user', content: 'rules of the doctor for the car, of the doctor' }]
    const found = expectStatus(await local.operator('POST', `/api/spaces/${place.id}/search`, { messages }), 200)
    expect(found.reranking).toMatchObject({ outcome: 'reranked', passages: 2 })
    expect(found.candidates).toMatchObject([
      { documentName: 'car.txt', fusedRank: 2, outcome: 'used' },
      { documentName: 'rules.txt', fusedRank: 1, outcome: 'used' },
    ])
    await removeFolder(folder)
  })
})

describe('the settings of the reranker', () => {
  it('are printed at the start where there is one', () => {
    expect(portico.describe()).toContain('reranker   rerank-1 of a provider')
  })

  it('name a model of another kind as an error', async () => {
    const settings = {
      providers: [{ id: 'p', flavour: 'generic', baseUrl: 'http://127.0.0.1:1/v1', hosting: 'us', models: 'declared' }],
      models: [{ id: 'm', deployments: [{ provider: 'p', prices: { input: '1', output: '1' } }] }],
      reranker: { model: 'm' },
    }
    await expect(startPortico({ settings })).rejects.toThrow('reranker.model: m is a model of kind chat')
  })

  it.skipIf(!onnx)('name a folder without a model as an error', async () => {
    const settings = { reranker: { folder: path.join(tmpdir(), 'portico-no-such-reranker') } }
    await expect(startPortico({ settings })).rejects.toThrow(/^reranker: .*lacks config\.json/)
  })

  it('change nothing without a model', async () => {
    await using plain = await startPortico()
    expect(plain.describe()).not.toContain('reranker')
    const own = await plain.createOrganisation()
    const place = await plain.createSpace(own, { settings: { wholeSpaceTokens: 0 } })
    await uploadReady(own, place.id, texts[0][0], 'rules.txt')
    const found = expectStatus(
      await plain.operator('POST', `/api/spaces/${place.id}/search`, { messages: question }),
      200,
    )
    expect(found).toMatchObject({ reranking: null, candidates: [{ rank: 1, fusedRank: 1, rerankScore: null }] })
  })
})
