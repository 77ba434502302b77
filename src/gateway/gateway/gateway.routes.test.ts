import { describe, expect, it } from 'vitest'
import { completionChunkSchema, completionSchema } from '../../contract/gateway.ts'
import type { WholeCompletion } from './port.ts'
import { createChunkRenderer, renderCompletion } from './gateway.routes.ts'

const identity = { id: 'chatcmpl-1', createdSeconds: 1_700_000_000, model: 'eu/a "model"' }
const usage = { promptTokens: 14, completionTokens: 2, cachedTokens: 3, cacheWriteTokens: 0, reasoningTokens: 1 }
const completion = {
  text: 'A "quoted"\nanswer \u2028 with \ud83d\ude00 and \\ \ud800',
  refusal: null,
  citations: [],
  finishReason: 'stop',
  usage,
} as unknown as WholeCompletion
const citation = { url: 'https://example.org/?a="b"', title: 'A\ttitle', startIndex: 0, endIndex: 8 }

describe('a rendered completion', () => {
  const render = (change: Partial<WholeCompletion> = {}) =>
    JSON.parse(renderCompletion({ ...completion, ...change }, identity)) as unknown

  it('is JSON of the documented form whatever its texts contain', () => {
    const rendered = render()
    expect(rendered).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'eu/a "model"',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: completion.text, refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 14,
        completion_tokens: 2,
        total_tokens: 16,
        prompt_tokens_details: { cached_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    })
    expect(completionSchema.parse(rendered)).toEqual(rendered)
  })

  it('has no content where the model refused, and the citations of an answer', () => {
    expect(render({ text: '', refusal: 'No "thanks".' })).toMatchObject({
      choices: [{ message: { content: null, refusal: 'No "thanks".' } }],
    })
    expect(render({ citations: [citation] })).toMatchObject({
      choices: [{ message: { annotations: [{ url_citation: { url: citation.url, title: citation.title } }] } }],
    })
  })
})

describe('the chunks of a streamed completion', () => {
  it.each([true, false])('are JSON of the documented form, with usage where it is asked for: %s', (includeUsage) => {
    const renderer = createChunkRenderer(identity, { includeUsage })
    const text =
      renderer.role() +
      renderer.event({ type: 'text', text: completion.text }) +
      renderer.event({ type: 'refusal', text: 'No.' }) +
      renderer.event({ type: 'citations', citations: [citation] }) +
      renderer.event({ type: 'finish', finishReason: 'length', usage, estimated: false, receipt: {} as never })
    const lines = text.split('\n\n')
    expect(lines.slice(-2)).toEqual(['data: [DONE]', ''])
    const chunks = lines.slice(0, -2).map((line) => JSON.parse(line.replace('data: ', '')) as unknown)
    for (const chunk of chunks) expect(completionChunkSchema.parse(chunk)).toEqual(chunk)
    expect(chunks).toHaveLength(includeUsage ? 6 : 5)
    expect(chunks[1]).toMatchObject({ choices: [{ delta: { content: completion.text }, finish_reason: null }] })
    expect(chunks[4]).toMatchObject({ choices: [{ delta: {}, finish_reason: 'length' }] })
    if (includeUsage) expect(chunks[5]).toMatchObject({ choices: [], usage: { total_tokens: 16 } })
  })
})
