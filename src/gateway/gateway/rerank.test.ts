import { afterAll, beforeAll, expect, it } from 'vitest'
import { startUpstream, type Upstream, type UpstreamReply } from '../../../test/upstream/upstream.ts'
import type { Hold, HoldRequest, Ledger, Outcome, Receipt } from '../billing/index.ts'
import { silentLog, systemClock } from '../../platform/kernel/index.ts'
import type { Catalogue } from '../models/index.ts'
import { testDeployment, testOrganisation } from '../models/testing/catalogue-fixture.ts'
import { createProvider, type ProviderSettings } from '../providers/index.ts'
import { createRouter } from '../routing/index.ts'
import { createTokenCounting } from '../tokens/index.ts'
import { createReranking } from './rerank.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.close())

const tokens = createTokenCounting({ log: silentLog })
afterAll(() => tokens.close())

async function rerankAgainst(
  settings: Pick<ProviderSettings, 'format' | 'flavour'>,
  reply: (documents: string[], index: number) => UpstreamReply | Promise<UpstreamReply>,
  { documents = ['one', 'two'], kind = 'rerank', timeoutMs = 10_000 } = {},
) {
  let index = 0
  upstream.script(({ body }) => {
    const { documents: sent, texts = sent } = JSON.parse(body) as { documents: string[]; texts?: string[] }
    return reply(texts, index++)
  })
  const provider = createProvider({ id: 'p', baseUrl: upstream.url, ...settings })
  const outcomes: Outcome[] = []
  const holds: HoldRequest[] = []
  const hold = {
    durable: Promise.resolve(),
    makeDurable: () => Promise.resolve(),
    settle: async (outcome: Outcome) => {
      outcomes.push(outcome)
      return { ending: outcome.kind === 'answered' ? outcome.ending : 'unanswered' } as Receipt
    },
  } as unknown as Hold
  const reranking = createReranking({
    catalogue: {
      resolve: () => ({ model: { id: 'r', kind }, deployments: [testDeployment('r')] }),
      provider: () => provider,
    } as unknown as Catalogue,
    router: createRouter({ clock: systemClock, random: () => 0.5, log: silentLog }),
    ledger: {
      hold: async (request: HoldRequest) => {
        holds.push(request)
        return hold
      },
      noteRefused() {},
    } as unknown as Ledger,
    tokens,
    clock: systemClock,
    log: silentLog,
  })
  const signal = AbortSignal.timeout(20_000)
  const call = { organisation: testOrganisation(), spaceId: null, model: 'r', query: 'which one?', documents }
  const result = await reranking.rerank({ ...call, timeoutMs, signal }).then(
    ({ scores }) => scores,
    ({ code }: { code: string }) => code,
  )
  await provider.close()
  return { result, outcomes, holds }
}

const ranksOf = (documents: string[]) => documents.map((_, index) => ({ index, relevance_score: index }))
const answer = (documents: string[], fields: object) => ({
  body: JSON.stringify({ results: ranksOf(documents), ...fields }),
})

it('bills the tokens that the provider states', async () => {
  const { result, outcomes } = await rerankAgainst({ format: 'openai', flavour: 'jina' }, (documents) =>
    answer(documents, { usage: { total_tokens: 812 } }),
  )
  expect(result).toEqual([0, 1])
  expect(outcomes).toMatchObject([
    { kind: 'answered', ending: 'completed', estimated: false, usage: { promptTokens: 812, completionTokens: 0 } },
  ])
})

it('bills the search units of a provider at the price of output, which the hold covers', async () => {
  // The query has up to 3 tokens more for each document; 300 documents of 600 tokens are 600 parts or more.
  const documents = Array.from({ length: 300 }, () => 'word '.repeat(600))
  const { outcomes, holds } = await rerankAgainst(
    { format: 'cohere' },
    (sent) => answer(sent, { meta: { billed_units: { search_units: 6 } } }),
    { documents },
  )
  expect(outcomes).toMatchObject([
    { estimated: false, usage: { completionTokens: 0, stated: { billedUnits: { inputTokens: 0, outputTokens: 6 } } } },
  ])
  expect(holds[0]!.outputCapTokens).toBeGreaterThanOrEqual(6)
  expect(holds[0]).toMatchObject({ surface: 'embeddings', stream: false })
})

it('counts the tokens of a provider that states none: the query once for each document', async () => {
  const { outcomes } = await rerankAgainst({ format: 'cohere' }, (documents) => answer(documents, {}))
  // `which one?` has 3 tokens, `one` and `two` have one each.
  expect(outcomes).toMatchObject([{ estimated: true, usage: { promptTokens: 3 * 2 + 2 } }])
})

it('bills the documents that were scored before a later request failed', async () => {
  const documents = Array.from({ length: 40 }, (_, index) => `document ${index}`)
  const { result, outcomes } = await rerankAgainst(
    { format: 'openai', flavour: 'tei' },
    (texts, index) =>
      index === 0
        ? { body: JSON.stringify(texts.map((_, at) => ({ index: at, score: at }))) }
        : { status: 422, body: '{"error":"broken","error_type":"tokenizer"}' },
    { documents },
  )
  expect(result).toBe('invalid_request')
  expect(outcomes).toMatchObject([{ kind: 'answered', ending: 'provider_failed', estimated: true }])
})

it('ends a call at its time limit, bills nothing, and reports that the provider was late', async () => {
  const { result, outcomes } = await rerankAgainst({ format: 'cohere' }, () => ({ headersAfterMs: 'never' }), {
    timeoutMs: 200,
  })
  expect(result).toBe('upstream_timeout')
  expect(outcomes).toMatchObject([{ kind: 'unanswered' }])
})

it('rejects a model of another kind', async () => {
  const { result, holds } = await rerankAgainst({ format: 'cohere' }, () => ({}), { kind: 'embedding' })
  expect(result).toBe('model_not_found')
  expect(holds).toEqual([])
})
