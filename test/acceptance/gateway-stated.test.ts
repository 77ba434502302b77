import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GatewayStage, stagePrices, startGatewayStage } from '../harness/gateway-stage.ts'
import { chatAnswer, chatStream } from '../upstream/replies.ts'
import type { UpstreamReply } from '../upstream/upstream.ts'

/** Costs and sources that providers state, as clients and operators receive them. */

let stage: GatewayStage
beforeAll(async () => {
  stage = await startGatewayStage({
    settings: (baseUrl) => ({
      providers: [
        { id: 'router', baseUrl, apiKey: 'key-router', flavour: 'openrouter', hosting: 'global' },
        { id: 'searcher', baseUrl, apiKey: 'key-searcher', flavour: 'perplexity', hosting: 'global' },
        { id: 'azure-like', baseUrl, apiKey: 'key-azure', hosting: 'us' },
      ],
      models: [
        { id: 'routed', deployments: [{ provider: 'router', prices: stagePrices }] },
        { id: 'searched', deployments: [{ provider: 'searcher', prices: stagePrices }] },
        { id: 'withheld', deployments: [{ provider: 'azure-like', prices: stagePrices }] },
      ].map((model) => ({ contextTokens: 8000, maxOutputTokens: 1000, ...model })),
    }),
  })
})
afterAll(() => stage?.stop())

const edit = (reply: UpstreamReply, change: (body: Record<string, unknown>) => object): UpstreamReply => ({
  ...reply,
  body: JSON.stringify(change(JSON.parse(String(reply.body)) as Record<string, unknown>)),
})

describe('a cost that the provider states', () => {
  it('is billed, and the receipt names the basis and the raw numbers', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: 0.0321 }
    stage.play(
      'routed',
      edit(chatAnswer('Hello'), (body) => ({ ...body, usage })),
    )
    const receipt = await stage.receipt(await stage.complete('routed'))
    expect(receipt).toMatchObject({ billedUsd: '0.0321', costBasis: 'stated', rawUsage: usage })
    await stage.expectClean()
  })

  it('that differs from tokens times prices is counted, and the operator sees it in the console', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: 0.000_03 }
    stage.play(
      'withheld',
      edit(chatAnswer('Hello'), (body) => ({ ...body, usage })),
    )
    const receipt = await stage.receipt(await stage.complete('withheld'))
    expect(receipt).toMatchObject({ billedUsd: '0.00003', costBasis: 'stated' })
    const { deploymentId: deployment } = receipt
    const metrics = await (await fetch(stage.portico.metricsUrl)).text()
    expect(metrics).toContain(`portico_stated_costs_total{deployment="${deployment}",result="above"} 1`)
    const { body: system } = await stage.portico.operator('GET', '/api/console/system')
    expect(system.events).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        fields: expect.objectContaining({ deployment, statedUsd: '0.00003', computedUsd: '0.00002' }),
      }),
    )
  })

  it('is absent for other providers, whose tokens are billed at their prices', async () => {
    stage.play('withheld', chatAnswer('Hello'))
    expect(await stage.receipt(await stage.complete('withheld'))).toMatchObject({ costBasis: 'tokens', rawUsage: null })
  })
})

describe('sources that a provider names', () => {
  const search_results = [{ title: 'A page', url: 'https://a.test/page' }]
  const annotation = {
    type: 'url_citation',
    url_citation: { start_index: 0, end_index: 0, url: 'https://a.test/page', title: 'A page' },
  }

  it('are annotations of the message', async () => {
    stage.play(
      'searched',
      edit(chatAnswer('It is so [1].'), (body) => ({ ...body, search_results })),
    )
    const { body } = await stage.complete('searched')
    expect(body.choices[0].message).toMatchObject({ content: 'It is so [1].', annotations: [annotation] })
  })

  it('are annotations of one delta in a stream, and absent where there are none', async () => {
    const reply = chatStream(['It is so', ' [1].'])
    const lines = String(reply.body).replaceAll(
      '"choices":',
      `"search_results":${JSON.stringify(search_results)},"choices":`,
    )
    stage.play('searched', { ...reply, body: lines })
    const { chunks, text, done } = await stage.stream('searched')
    expect({ text, done }).toEqual({ text: 'It is so [1].', done: true })
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.delta.annotations ?? [])).toEqual([annotation])
    stage.play('withheld', chatAnswer('Hello'))
    expect((await stage.complete('withheld')).body.choices[0].message).not.toHaveProperty('annotations')
  })
})

it('an answer withheld by the filter is a 200 with content_filter, and its tokens are billed', async () => {
  stage.play(
    'withheld',
    edit(chatAnswer(''), (body) => ({ ...body, choices: [{ index: 0, finish_reason: 'content_filter' }] })),
  )
  const answer = await stage.complete('withheld')
  expect(answer).toMatchObject({ status: 200, body: { choices: [{ finish_reason: 'content_filter' }] } })
  expect(Number((await stage.receipt(answer)).billedUsd)).toBeGreaterThan(0)
})
