import { expect, it } from 'vitest'
import { startUpstream } from '../../../test/upstream/upstream.ts'
import type { Hold, Ledger, Outcome, Receipt } from '../billing/index.ts'
import { silentLog, systemClock } from '../../platform/kernel/index.ts'
import type { Catalogue, Deployment } from '../models/index.ts'
import { createRouter } from '../routing/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import { createProvider } from '../providers/index.ts'
import { createTokenCounting } from '../tokens/index.ts'
import { createEmbeddings } from './embed.ts'

/** Ollama takes 32 texts in one request. */
const texts = Array.from({ length: 40 }, (_, index) => `text number ${index}`)

async function embedAgainst(secondReply: { status: number; body: string }) {
  const upstream = await startUpstream()
  upstream.script(({ index, body }) => {
    const input = (JSON.parse(body) as { input: string[] }).input
    const vectors = { embeddings: input.map(() => [1, 0]), prompt_eval_count: 5 * input.length }
    return index === 0 ? { body: JSON.stringify(vectors) } : secondReply
  })
  const provider = createProvider({ id: 'local', format: 'ollama', baseUrl: upstream.url })
  const deployment = {
    id: 'only',
    providerId: 'local',
    wire: { id: 'embedder', baseModel: 'embedder', acceptsTemperature: true, reasoning: false, maxOutputTokens: 0 },
    hosting: 'us',
    side: 'other',
    region: null,
    weight: 1,
    prices: [],
  } as Deployment
  const outcomes: Outcome[] = []
  const hold = {
    durable: Promise.resolve(),
    makeDurable: () => Promise.resolve(),
    settle: async (outcome: Outcome) => {
      outcomes.push(outcome)
      return outcome as unknown as Receipt
    },
  } as unknown as Hold
  const embeddings = createEmbeddings({
    catalogue: {
      resolve: () => ({ model: { id: 'embedder', kind: 'embedding', dimensions: 2 }, deployments: [deployment] }),
      provider: () => provider,
    } as unknown as Catalogue,
    router: createRouter({ clock: systemClock, random: () => 0.5, log: silentLog }),
    ledger: { hold: async () => hold } as unknown as Ledger,
    tokens: createTokenCounting({ log: silentLog }),
    clock: systemClock,
    log: silentLog,
  })
  const result = await embeddings
    .embed({
      organisation: { id: 'one' } as Organisation,
      spaceId: null,
      model: 'embedder',
      texts,
      purpose: 'document',
      signal: new AbortController().signal,
    })
    .then(
      () => 'embedded',
      () => 'failed',
    )
  await provider.close()
  await upstream.close()
  return { result, outcomes }
}

it('bills the texts that were embedded before a later request failed', async () => {
  const { result, outcomes } = await embedAgainst({ status: 400, body: '{"error":"broken"}' })
  expect(result).toBe('failed')
  expect(outcomes).toMatchObject([
    { kind: 'answered', ending: 'provider_failed', estimated: false, usage: { promptTokens: 160 } },
  ])
})

it('bills all texts once where every request succeeds', async () => {
  const body = JSON.stringify({ embeddings: texts.slice(32).map(() => [0, 1]), prompt_eval_count: 40 })
  const { result, outcomes } = await embedAgainst({ status: 200, body })
  expect(result).toBe('embedded')
  expect(outcomes).toMatchObject([{ kind: 'answered', ending: 'completed', usage: { promptTokens: 200 } }])
})
