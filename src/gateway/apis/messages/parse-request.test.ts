import { describe, expect, test } from 'vitest'
import { readJson } from '../../../platform/bodies/index.ts'
import { AppError } from '../../../platform/kernel/index.ts'
import { wrapReplay } from '../../providers/index.ts'
import { parseBetas } from './messages.routes.ts'
import { messagesBody } from './messages-body.ts'

const ask = { role: 'user', content: 'Hello' }
const tool = { name: 'now', input_schema: { type: 'object', properties: {} } }
const png = Buffer.from('\x89PNG\r\n\x1a\nxxxx', 'latin1').toString('base64')
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }

function read(fields: Record<string, unknown>) {
  const body = { model: 'm', max_tokens: 9, messages: [ask], ...fields }
  return readJson(Buffer.from(JSON.stringify(body)), messagesBody)
}

function refusal(fields: Record<string, unknown>): { param: string | null; message: string; code: string } {
  try {
    read(fields)
  } catch (error) {
    if (error instanceof AppError) return { param: error.param, message: error.message, code: error.code }
    throw error
  }
  throw new Error('the body was accepted')
}

const turns = (...contents: unknown[][]) => ({
  tools: [tool],
  messages: [ask, ...contents.map((content, index) => ({ role: index % 2 === 0 ? 'assistant' : 'user', content }))],
})
const called = (id: string) => ({ type: 'tool_use', id, name: 'now', input: {} })
const answered = (tool_use_id: string, fields = {}) => ({ type: 'tool_result', tool_use_id, ...fields })

describe('a body of the Messages API', () => {
  test('becomes a canonical request', () => {
    const { request, model, stream, ignored } = read({
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      temperature: 0.5,
      top_k: 3,
      stop_sequences: ['x'],
      metadata: { user_id: 'u' },
      service_tier: 'standard_only',
      stream: true,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools: [{ ...tool, description: 'd', strict: true }],
      tool_choice: { type: 'tool', name: 'now', disable_parallel_tool_use: true },
      output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
    })
    expect({ model, stream, ignored }).toEqual({ model: 'm', stream: true, ignored: [] })
    expect(request).toMatchObject({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache: { ttl: '1h' } }] },
        { role: 'user', content: 'Hello' },
      ],
      maxOutputTokens: 9,
      temperature: 0.5,
      temperatureIsExact: true,
      topK: 3,
      stop: ['x'],
      user: 'u',
      serviceTier: 'default',
      reasoning: { mode: 'enabled', budgetTokens: 1024 },
      tools: [{ name: 'now', description: 'd', strict: true, parameters: tool.input_schema }],
      toolChoice: { name: 'now' },
      parallelToolCalls: false,
      reasoningEffort: 'low',
      responseFormat: { type: 'json_schema', schema: { type: 'object' } },
      writesHourCache: true,
    })
  })

  test('has results of tools before other content, with their images and errors', () => {
    const { request } = read(
      turns(
        [{ type: 'text', text: 'Let me look.' }, called('a'), called('b')],
        [
          { type: 'text', text: 'Also:' },
          answered('a', { content: [{ type: 'text', text: 'x' }, image], is_error: true }),
          answered('b', { content: 'y' }),
        ],
      ),
    )
    expect(request.messages).toEqual([
      { role: 'user', content: 'Hello' },
      {
        role: 'assistant',
        content: 'Let me look.',
        toolCalls: ['a', 'b'].map((id) => ({ id, name: 'now', argumentsJson: '{}' })),
      },
      {
        role: 'tool',
        toolCallId: 'a',
        isError: true,
        content: [
          { type: 'text', text: 'x' },
          { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: png } },
        ],
      },
      { role: 'tool', toolCallId: 'b', content: 'y' },
      { role: 'user', content: 'Also:' },
    ])
  })

  test('has documents as files, and those of text as text with their title', () => {
    const pdf = Buffer.from('%PDF-1.7').toString('base64')
    const document = (source: object) => ({ type: 'document', title: 'T', source })
    const { request } = read({
      messages: [
        {
          role: 'user',
          content: [
            document({ type: 'base64', media_type: 'application/pdf', data: pdf }),
            document({ type: 'text', media_type: 'text/plain', data: 'words' }),
            {
              type: 'search_result',
              title: 'S',
              source: 'https://s.example',
              content: [{ type: 'text', text: 'found' }],
            },
          ],
        },
      ],
    })
    expect(request.messages[0]!.content).toEqual([
      { type: 'file', name: 'T', source: { kind: 'base64', mediaType: 'application/pdf', data: pdf } },
      { type: 'text', text: '<document title="T">\nwords\n</document>' },
      { type: 'text', text: '<search_result title="S" source="https://s.example">\nfound\n</search_result>' },
    ])
    expect(request.native?.only).toBeUndefined()
  })

  test('restores the reasoning of each format, and sends each only where it belongs', () => {
    const replay = { format: 'openai' as const, blocks: [{ id: 'r1' }] }
    const wrapped = { type: 'thinking', thinking: 'a', signature: wrapReplay(replay) }
    const own = { type: 'thinking', thinking: 'b', signature: 'signed-by-claude' }
    const forged = wrapReplay({ format: 'anthropic', blocks: [{ type: 'container_upload', file_id: 'f' }] })
    const of = (block: object) => {
      const { request } = read(turns([block, { type: 'text', text: 'x' }], [{ type: 'text', text: 'More?' }]))
      const { messages } = request.native!.body as { messages: { content: { type: string }[] }[] }
      return { replay: request.messages[1]!.replay, native: messages[1]!.content.map(({ type }) => type) }
    }
    expect(of(wrapped)).toEqual({ replay, native: ['text'] })
    expect(of(own)).toEqual({ replay: { format: 'anthropic', blocks: [own] }, native: ['thinking', 'text'] })
    expect(of({ type: 'thinking', thinking: 'a', signature: '' })).toEqual({ replay: undefined, native: ['text'] })
    expect(of({ type: 'redacted_thinking', data: forged }).native).toEqual(['text'])
  })

  test.each([
    [
      'citations',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'search_result', title: 'S', source: 's', content: [], citations: { enabled: true } },
              { type: 'text', text: 'x' },
            ],
          },
        ],
      },
      'messages[0].content[0].citations',
    ],
    [
      'a tool that Anthropic ran',
      {
        messages: [
          ask,
          { role: 'assistant', content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }] },
        ],
      },
      'messages[1].content[0]',
    ],
    [
      'edits of the context',
      { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      'context_management',
    ],
  ])('with %s needs a host of this API', (_what, fields, only) => {
    expect(read(fields).request.native?.only).toBe(only)
  })

  test('names what changes nothing', () => {
    const { ignored, request } = read({
      top_k: -1,
      unknown: 1,
      messages: [{ ...ask, other: 2 }],
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      tools: [],
      tool_choice: { type: 'auto' },
      speed: 'standard',
    })
    expect(ignored.sort()).toEqual(['context_management', 'messages.other', 'top_k', 'unknown'])
    expect(request).not.toHaveProperty('tools')
    expect(request).not.toHaveProperty('toolChoice')
  })

  test.each([
    ['no cap', { max_tokens: undefined }, 'max_tokens'],
    ['an unknown block', { messages: [{ role: 'user', content: [{ type: 'video' }] }] }, 'messages[0].content[0].type'],
    ['a result without its call', turns([called('a')], [answered('b')]), 'messages[2].content[0].tool_use_id'],
    ['a call without its result', turns([called('a')], [{ type: 'text', text: 'x' }]), 'messages[1].content[0].id'],
    ['a call at the end', turns([called('a')]), 'messages[1].content[0].id'],
    ['two calls with one id', turns([called('a'), called('a')], [answered('a')]), 'messages[1].content[1].id'],
    [
      'two results of one call',
      turns([called('a')], [answered('a'), answered('a')]),
      'messages[2].content[1].tool_use_id',
    ],
    ['a result of the assistant', turns([answered('a')]), 'messages[1].content[0].tool_use_id'],
    ['a blank question', { messages: [{ role: 'user', content: ' ' }] }, 'messages[0].content'],
    [
      'a file that the provider keeps',
      { messages: [{ role: 'user', content: [{ ...image, source: { type: 'file', file_id: 'f' } }] }] },
      'messages[0].content[0].source.type',
    ],
    [
      'an image with another type',
      { messages: [{ role: 'user', content: [{ ...image, source: { ...image.source, media_type: 'image/jpeg' } }] }] },
      'messages[0].content[0].source.data',
    ],
    ['101 images', { messages: [{ role: 'user', content: Array.from({ length: 101 }, () => image) }] }, 'messages'],
    ['two tools with one name', { tools: [tool, tool] }, 'tools[1].name'],
    [
      'an unknown tool of the provider',
      { tools: [tool, { type: 'time_travel_20250305', name: 'web_search' }] },
      'tools[1].type',
    ],
    ['a choice of no tool', { tools: [tool], tool_choice: { type: 'tool', name: 'other' } }, 'tool_choice.name'],
    ['a container', { container: 'c' }, 'container'],
    ['101 uses of a search', { tools: [{ type: 'web_search_20250305', max_uses: 101 }] }, 'tools[0].max_uses'],
    [
      'a server without encryption',
      { mcp_servers: [{ type: 'url', url: 'http://m.example', name: 'm' }] },
      'mcp_servers[0].url',
    ],
    ['fast mode', { speed: 'fast' }, 'speed'],
    [
      'compaction',
      { context_management: { edits: [{ type: 'compact_20260112' }] } },
      'context_management.edits[0].type',
    ],
    ['a temperature above 1', { temperature: 1.5 }, 'temperature'],
    ['1,001 tools', { tools: Array.from({ length: 1_001 }, (_, index) => ({ ...tool, name: `t${index}` })) }, 'tools'],
  ])('with %s is refused with the field', (_what, fields, param) => {
    const refused = refusal(fields)
    expect(refused.param).toBe(param)
    expect(refused.message).toContain(param)
  })

  test('with a schema that is too deep or too large is refused with the tool', () => {
    let deep: object = {}
    for (let level = 0; level < 70; level++) deep = { properties: { a: deep } }
    const large = { type: 'object', description: 'x'.repeat(300_000) }
    for (const schema of [deep, large]) {
      expect(refusal({ tools: [{ ...tool, input_schema: schema }] })).toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(/tools\[0\]\.input_schema|nested/) as string,
      })
    }
  })
})

test('opt-ins are sent on from a list, the others are named', () => {
  expect(parseBetas('interleaved-thinking-2025-05-14, fast-mode-2026-02-01')).toEqual({
    betas: ['interleaved-thinking-2025-05-14'],
    ignored: ['anthropic-beta:fast-mode-2026-02-01'],
  })
  expect(parseBetas(undefined)).toEqual({ betas: [], ignored: [] })
})
