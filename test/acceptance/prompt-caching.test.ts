import { expect, it } from 'vitest'
import { expectStatus, startPortico } from '../harness/portico.ts'
import { startUpstream } from '../upstream/upstream.ts'

it('a repeated long prompt prefix is cached by the provider, and the receipts show the saving', async () => {
  const marked: number[] = []
  const upstream = await startUpstream(({ index, body }) => {
    marked.push(body.split('"cache_control"').length - 1)
    const cache =
      index === 0
        ? { cache_creation_input_tokens: 2_000, cache_read_input_tokens: 0 }
        : { cache_creation_input_tokens: 0, cache_read_input_tokens: 2_000 }
    return {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        type: 'message',
        role: 'assistant',
        content: [{ type: 'text', text: 'Fine.' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 10, output_tokens: 2, ...cache },
      }),
    }
  })
  await using portico = await startPortico({
    settings: {
      providers: [
        {
          id: 'c',
          format: 'anthropic',
          baseUrl: upstream.url,
          apiKey: 'sk-test',
          hosting: 'us',
          models: 'declared',
          quirks: { promptCaching: true },
        },
      ],
      models: [
        {
          id: 'house-claude',
          deployments: [
            {
              provider: 'c',
              wireId: 'claude-sonnet-4-6',
              prices: { input: '3', output: '15', cacheRead: '0.3', cacheWrite: '3.75' },
            },
          ],
        },
      ],
    },
  })
  const organisation = await portico.createOrganisation()
  const receipts = []
  for (const question of ['Why?', 'How?']) {
    const answer = await organisation.client('POST', '/v1/gateway/chat/completions', {
      model: 'house-claude',
      messages: [
        { role: 'system', content: 'Answer from this text. '.repeat(500) },
        { role: 'user', content: question },
      ],
    })
    expectStatus(answer, 200)
    const path = `/api/usage/${answer.headers.get('x-request-id')}`
    receipts.push(expectStatus(await portico.operator('GET', path), 200))
  }
  // After the instructions and after the question.
  expect(marked).toEqual([2, 2])
  expect(receipts).toMatchObject([
    { usage: { promptTokens: 2_010, cacheWriteTokens: 2_000, cachedTokens: 0 } },
    { usage: { promptTokens: 2_010, cacheWriteTokens: 0, cachedTokens: 2_000 } },
  ])
  // 10 × 3 + 2 × 15 millionths of a dollar, and 2,000 tokens at 3.75 or at 0.3.
  expect(receipts.map(({ baseCostUsd }) => Number(baseCostUsd))).toEqual([0.00756, 0.00066])
  await upstream.close()
})
