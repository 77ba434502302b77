import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bytesOf, providerCall } from '../../../test/harness/provider-call.ts'
import { sharedDataFolder } from '../../../test/harness/shared-data.ts'
import { foldStream } from '../../../test/upstream/fold-answer.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/upstream.ts'
import { createAdapter, createProvider } from './create-provider.ts'
import type { TokenUsage } from './port.ts'

const openai = (flavour: string) =>
  createAdapter({ id: 'p', apiKey: 'k', format: 'openai', flavour, baseUrl: 'http://h.test' })

const completion = (usage: object) =>
  bytesOf(JSON.stringify({ choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }], usage }))

const usageOf = (flavour: string, usage: object) => openai(flavour).fromResponse(completion(usage)).usage!

describe('a usage of the compatible family', () => {
  const counts = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
  const statedBy = (flavour: string, fields: object) => usageOf(flavour, { ...counts, ...fields }).stated

  test('of any host may state a cost, which must be an amount of US dollars', () => {
    expect(statedBy('generic', { cost: '0.0002444' })).toMatchObject({ costAttoUsd: 244_400_000_000_000n })
    expect(statedBy('generic', { estimated_cost: 5e-7 })).toMatchObject({ costAttoUsd: 500_000_000_000n })
    expect(statedBy('generic', { cost: 5 })).not.toHaveProperty('costIsDocumented')
    for (const cost of [-1, 1e9, 'free', '1e-3', null, {}, { total_cost: 1, currency: 'EUR' }])
      expect(statedBy('openrouter', { cost })).toBeUndefined()
    expect(statedBy('openrouter', { cost: 0 })).toMatchObject({ costAttoUsd: 0n, costIsDocumented: true })
    // A customer's own key, without the price of the inference: the fee alone is not the cost.
    expect(statedBy('vercel', { cost: 0, is_byok: true })).toBeUndefined()
    expect(statedBy('xai', { cost_in_usd_ticks: 10 ** 16 })).toBeUndefined()
  })

  test.each([
    // Gemini behind Vercel's gateway: the total is that of the two counts.
    [9, 2, 11, 25],
    [223, 25, 248, 266],
    [9, 2, undefined, 25],
    [9, 0, 9, 25],
  ])('with more reasoning than completion tokens counts the reasoning too: %o, %o, %o, %o', (...wire) => {
    const [prompt_tokens, completion_tokens, total_tokens, reasoning_tokens] = wire
    const details = { completion_tokens_details: { reasoning_tokens } }
    for (const flavour of ['generic', 'vercel', 'openai', 'openrouter', 'xai', 'perplexity'])
      expect(usageOf(flavour, { prompt_tokens, completion_tokens, total_tokens, ...details })).toMatchObject({
        promptTokens: prompt_tokens,
        completionTokens: completion_tokens + reasoning_tokens,
        reasoningTokens: reasoning_tokens,
        stated: { raw: { completion_tokens } },
      })
  })
})

test('a gateway with the Messages API may state a cost, whole or streamed', () => {
  const adapter = createAdapter({ id: 'p', apiKey: 'k', format: 'anthropic', baseUrl: 'http://h.test' })
  const stated = { costAttoUsd: 2_000_000_000_000_000n }
  const usage = { input_tokens: 7, output_tokens: 3, cost: 0.002 }
  const answer = { type: 'message', content: [{ type: 'text', text: 'x' }], stop_reason: 'end_turn', usage }
  expect(adapter.fromResponse(bytesOf(JSON.stringify(answer))).usage).toMatchObject({ stated })
  const events = [
    { type: 'message_start', message: { usage: { input_tokens: 7, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'x' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3, cost: 0.002 } },
    { type: 'message_stop' },
  ]
  const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  expect(foldStream(adapter.createStreamReader(), [bytesOf(stream)]).usage).toMatchObject({ stated })
})

describe('a cost of several requests', () => {
  let upstream: Upstream
  beforeAll(async () => {
    upstream = await startUpstream()
  })
  afterAll(() => upstream.close())

  const connect = (flavour: string) => createProvider({ id: 'p', format: 'openai', flavour, baseUrl: upstream.url })

  test('of embeddings is their sum, and absent unless each request states one', async () => {
    const texts = Array.from({ length: 150 }, (_, index) => String(index))
    const answerTo = async (costs: readonly (number | undefined)[]) => {
      let requests = 0
      upstream.script((request) => {
        const { input } = JSON.parse(request.body) as { input: string[] }
        const data = input.map((_, index) => ({ index, embedding: [1] }))
        return { body: JSON.stringify({ data, usage: { prompt_tokens: 1, cost: costs[requests++] } }) }
      })
      const provider = connect('openrouter')
      const { stated } = await provider.embed!({ ...providerCall(), texts, purpose: 'document' })
      await provider.close()
      return stated?.costAttoUsd
    }
    expect(await answerTo([0.001, 0.002, 0.003])).toBe(6_000_000_000_000_000n)
    expect(await answerTo([0.001, undefined, 0.003])).toBeUndefined()
    expect(await answerTo([undefined, 0.002, 0.003])).toBeUndefined()
  })

  test('of a ranking is read', async () => {
    const results = [{ index: 0, relevance_score: 1 }]
    upstream.script(() => ({ body: JSON.stringify({ results, usage: { total_tokens: 4, cost: 0.002 } }) }))
    const provider = connect('openrouter')
    const { model, signal, requestId } = providerCall()
    const answer = await provider.rerank!({ model, signal, requestId, query: 'q', documents: ['d'] })
    await provider.close()
    expect(answer.stated).toMatchObject({ costAttoUsd: 2_000_000_000_000_000n, costIsDocumented: true })
  })
})

describe('a cost in a header of LiteLLM', () => {
  let upstream: Upstream
  beforeAll(async () => {
    upstream = await startUpstream()
  })
  afterAll(() => upstream.close())

  const call = async <Answer>(use: (provider: ReturnType<typeof createProvider>) => Promise<Answer>) => {
    const provider = createProvider({ id: 'p', format: 'openai', flavour: 'generic', baseUrl: upstream.url })
    try {
      return await use(provider)
    } finally {
      await provider.close()
    }
  }
  const reply = (cost: string, body: object) => ({
    headers: { 'content-type': 'application/json', 'x-litellm-response-cost': cost },
    body: JSON.stringify(body),
  })
  const completed = (usage: object) => ({
    choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, ...usage },
  })
  const statedFor = async (cost: string, usage: object = {}) => {
    upstream.script(() => reply(cost, completed(usage)))
    return (await call((provider) => provider.complete(providerCall()))).usage!.stated
  }

  test('is read of a whole answer', async () => {
    expect(await statedFor('0.000415')).toEqual({
      raw: { 'x-litellm-response-cost': '0.000415' },
      costAttoUsd: 415_000_000_000_000n,
      billedUnits: null,
    })
    // As Python writes small numbers.
    expect(await statedFor('1.25e-05')).toMatchObject({ costAttoUsd: 12_500_000_000_000n })
    expect(await statedFor('0.0')).toMatchObject({ costAttoUsd: 0n })
    for (const cost of ['None', '', '-1', '1e9', '1, 2', 'nan', '0x1']) expect(await statedFor(cost)).toBeUndefined()
  })

  test('gives way to the cost in the usage', async () => {
    expect(await statedFor('0.5', { cost: 0.002 })).toMatchObject({ costAttoUsd: 2_000_000_000_000_000n })
  })

  test('is read of embeddings and of a ranking', async () => {
    upstream.script(() => reply('0.001', { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1 } }))
    const vectors = await call((provider) => provider.embed!({ ...providerCall(), texts: ['t'], purpose: 'document' }))
    expect(vectors.stated).toMatchObject({ costAttoUsd: 1_000_000_000_000_000n })
    upstream.script(() => reply('0.002', { results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 4 } }))
    const { model, signal, requestId } = providerCall()
    const given = { model, signal, requestId, query: 'q', documents: ['d'] }
    const ranking = await call((provider) => provider.rerank!(given))
    expect(ranking.stated).toMatchObject({ costAttoUsd: 2_000_000_000_000_000n })
  })

  test('is no cost of a stream, which states it in its last usage', async () => {
    const chunks = [
      { choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } },
    ]
    const headers = { 'content-type': 'text/event-stream', 'x-litellm-response-cost': '0.0' }
    const usageOfStream = async (cost?: number) => {
      const last = { ...chunks[1], usage: { ...chunks[1]!.usage, ...(cost !== undefined && { cost }) } }
      const body = [chunks[0], last].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
      upstream.script(() => ({ headers, body: `${body}data: [DONE]\n\n` }))
      return call(async (provider) => {
        const { events } = await provider.stream(providerCall())
        const usages = []
        for await (const event of events)
          for (const one of [event].flat()) if (one.type === 'usage') usages.push(one.usage)
        return usages.at(-1)!
      })
    }
    expect(await usageOfStream()).not.toHaveProperty('stated')
    expect(await usageOfStream(0.002)).toMatchObject({ stated: { costAttoUsd: 2_000_000_000_000_000n } })
  })
})

interface Recording {
  provider: string
  kind: string
  file: string
}

const folder = sharedDataFolder('wire-tools')

describe.skipIf(!folder)(`recorded answers${folder ? '' : ' (skipped: shared data not found)'}`, () => {
  const index = folder ? readFileSync(path.join(folder, 'index.json'), 'utf8') : '{"records":[]}'
  const { records } = JSON.parse(index) as { records: Recording[] }
  const answers = records.filter(({ kind }) => kind === 'nonstream' || kind === 'stream')

  const usages = (provider: string, flavour: string): (TokenUsage | null)[] =>
    answers
      .filter((record) => record.provider === provider)
      .map(({ kind, file }) => {
        const body = readFileSync(path.join(folder!, file))
        if (kind === 'nonstream') return openai(flavour).fromResponse(body).usage
        return foldStream(openai(flavour).createStreamReader(), [body]).usage
      })

  test.each([
    ['vercel', 'vercel'],
    ['vercel', 'generic'],
    ['avian', 'generic'],
    ['openrouter', 'openrouter'],
  ])('of %s read as %s state their cost', (provider, flavour) => {
    const read = usages(provider, flavour)
    expect(read.length).toBeGreaterThan(0)
    for (const usage of read) expect(usage?.stated?.costAttoUsd).toBeTypeOf('bigint')
  })

  test('of Gemini behind Vercel’s gateway have the counts of Gemini', () => {
    // Prices of Gemini 2.5 Flash and 3 Pro in attoUsd per token, of 2026-08: the stated cost is that of all tokens.
    const prices = [
      [300_000_000_000n, 2_500_000_000_000n],
      [2_000_000_000_000n, 12_000_000_000_000n],
    ] as const
    const outside = usages('vercel', 'vercel').filter(
      (usage) => usage!.stated!.raw!.completion_tokens !== usage!.completionTokens,
    )
    expect(outside.length).toBeGreaterThan(0)
    for (const usage of outside) {
      const { promptTokens, completionTokens, stated } = usage!
      const costs = prices.map(([input, output]) => BigInt(promptTokens) * input + BigInt(completionTokens) * output)
      expect(costs).toContain(stated!.costAttoUsd)
    }
  })
})
