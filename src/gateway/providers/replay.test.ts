import { describe, expect, test } from 'vitest'
import { bytesOf, providerCall, weatherTool } from '../../../test/harness/provider-call.ts'
import { createAdapter } from './create-provider.ts'
import type { ProviderEvent, ProviderSettings, ReasoningReplay } from './port.ts'

const base = { id: 'p', apiKey: 'k', baseUrl: 'http://h.test', region: 'eu-central-1' }
const adapterOf = (host: Partial<ProviderSettings>) =>
  createAdapter({ ...base, format: 'openai', ...host } as ProviderSettings)

function streamed(host: Partial<ProviderSettings>, events: unknown[], end = ''): ProviderEvent[] {
  const reader = adapterOf(host).createStreamReader()
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + end
  return [...reader.push(bytesOf(text)), ...reader.end()]
}

const replayOf = (events: ProviderEvent[]) => events.find((event) => event.type === 'replay')?.replay

function secondRound(host: Partial<ProviderSettings>, id: string, replay: ReasoningReplay | undefined) {
  const call = providerCall(
    {
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: 'Let me look.',
          toolCalls: [{ id: 'c1', name: 'weather', argumentsJson: '{"city":"Rome"}' }],
          ...(replay && { replay }),
        },
        { role: 'tool', toolCallId: 'c1', content: 'Sun' },
      ],
      tools: [weatherTool],
    },
    { id, reasoning: true },
  )
  return adapterOf(host).toRequest(call, { stream: true }).body as { messages: Record<string, unknown>[] }
}

const chunk = (delta: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const called = { tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{"city":"Rome"}' } }] }

describe('the second round of a conversation with tools', () => {
  test.each([
    ['deepseek', 'deepseek-v4-pro'],
    ['moonshotai', 'kimi-k2.5'],
  ])('with %s contains the reasoning of the first in reasoning_content', (flavour, id) => {
    const events = streamed(
      { flavour },
      [
        chunk({ reasoning_content: 'I need ' }),
        chunk({ reasoning_content: 'a tool.' }),
        chunk(called),
        chunk({}, 'tool_calls'),
      ],
      'data: [DONE]\n\n',
    )
    expect(events.at(-1)!.type).toBe('finish')
    expect(secondRound({ flavour }, id, replayOf(events)).messages[1]).toMatchObject({
      reasoning_content: 'I need a tool.',
      tool_calls: [{ id: 'c1' }],
    })
    // Both refuse calls without the field, even calls of another model.
    expect(secondRound({ flavour }, id, undefined).messages[1]!.reasoning_content).toBe(' ')
    expect(secondRound({ flavour: 'openai' }, 'gpt-5', replayOf(events)).messages[1]).not.toHaveProperty(
      'reasoning_content',
    )
  })

  test('with OpenRouter contains the joined details of the first', () => {
    const detail = (text: string, more = {}) => ({ type: 'reasoning.text', index: 0, text, ...more })
    const events = streamed(
      { flavour: 'openrouter' },
      [
        chunk({ reasoning: 'I ', reasoning_details: [detail('I ')] }),
        chunk({
          reasoning: 'look.',
          reasoning_details: [detail('look.', { signature: 'sig', format: 'anthropic-claude-v1' })],
        }),
        chunk({ reasoning_details: [{ type: 'reasoning.encrypted', index: 1, data: 'xyz' }] }),
        chunk(called, 'tool_calls'),
      ],
      'data: [DONE]\n\n',
    )
    expect(
      secondRound({ flavour: 'openrouter' }, 'anthropic/claude-sonnet-4.6', replayOf(events)).messages[1],
    ).toMatchObject({
      reasoning_details: [
        { type: 'reasoning.text', index: 0, text: 'I look.', signature: 'sig', format: 'anthropic-claude-v1' },
        { type: 'reasoning.encrypted', index: 1, data: 'xyz' },
      ],
    })
  })

  test('with Anthropic contains thinking with its signature before the call, streamed or whole', () => {
    const host = { format: 'anthropic' as const }
    const blocks = [
      { type: 'thinking', thinking: 'I need a tool.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'hidden' },
    ]
    const events = streamed(host, [
      { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'I need ' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'a tool.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: blocks[1] },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 'c1', name: 'weather', input: {} },
      },
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ])
    expect(replayOf(events)).toEqual({ format: 'anthropic', blocks })
    const whole = adapterOf(host).fromResponse(
      bytesOf(
        JSON.stringify({
          type: 'message',
          content: [...blocks, { type: 'tool_use', id: 'c1', name: 'weather', input: {} }],
          stop_reason: 'tool_use',
        }),
      ),
    )
    expect(whole.replay).toEqual({ format: 'anthropic', blocks })
    const sent = secondRound(host, 'claude-opus-4-6', whole.replay).messages[1]!
    expect(sent.content).toMatchObject([...blocks, { type: 'text' }, { type: 'tool_use' }])
    // Reasoning of another provider is omitted.
    const foreign = secondRound(host, 'claude-opus-4-6', { format: 'bedrock', blocks }).messages[1]!
    expect(foreign.content).toMatchObject([{ type: 'text' }, { type: 'tool_use' }])
  })

  test('with Bedrock contains reasoning with its signature before the call', () => {
    const blocks = [
      { reasoningContent: { reasoningText: { text: 'I look.', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'aGlk' } },
    ]
    const whole = adapterOf({ format: 'bedrock' }).fromResponse(
      bytesOf(
        JSON.stringify({
          output: {
            message: {
              content: [...blocks, { toolUse: { toolUseId: 'c1', name: 'weather', input: { city: 'Rome' } } }],
            },
          },
          stopReason: 'tool_use',
        }),
      ),
    )
    const sent = secondRound({ format: 'bedrock' }, 'eu.anthropic.claude-opus-4-6-v1', whole.replay).messages[1]!
    expect(sent.content).toMatchObject([...blocks, { text: 'Let me look.' }, { toolUse: { toolUseId: 'c1' } }])
  })

  test('with Gemini contains the signature of the thought behind the call', () => {
    const events = streamed({ format: 'gemini' }, [
      {
        candidates: [
          {
            content: { parts: [{ functionCall: { name: 'weather', args: {} }, thoughtSignature: 'c2ln' }] },
            finishReason: 'STOP',
          },
        ],
      },
    ])
    const call = events.find((event) => event.type === 'tool_call')!
    const request = providerCall(
      {
        messages: [
          { role: 'user', content: 'Weather?' },
          { role: 'assistant', content: '', toolCalls: [{ id: call.id!, name: 'weather', argumentsJson: '{}' }] },
          { role: 'tool', toolCallId: call.id!, content: 'Sun' },
        ],
        tools: [weatherTool],
      },
      { id: 'gemini-3-flash' },
    )
    expect(JSON.stringify(adapterOf({ format: 'gemini' }).toRequest(request, { stream: false }).body)).toContain(
      '"thoughtSignature":"c2ln"',
    )
  })
})

test('an answer without tool calls has no reasoning to send back', () => {
  const events = streamed(
    { flavour: 'deepseek' },
    [chunk({ reasoning_content: 'Hm.' }), chunk({ content: 'Hi' }, 'stop')],
    'data: [DONE]\n\n',
  )
  expect(replayOf(events)).toBeUndefined()
})

describe('the prefix of a long prompt', () => {
  const long = 'word '.repeat(3_000)
  const messages = [
    { role: 'system' as const, content: long, cacheUpToHere: true },
    { role: 'user' as const, content: 'Hi', cacheUpToHere: true },
  ]
  const send = (host: Partial<ProviderSettings>, id: string, request = messages) =>
    adapterOf(host).toRequest(providerCall({ messages: request }, { id }), { stream: false }).body as {
      system: unknown
      messages: unknown[]
    }

  test('is marked for Claude’s cache if the caller announces its reuse', () => {
    const mark = { type: 'ephemeral' }
    expect(send({ format: 'anthropic' }, 'claude-sonnet-4-6')).toMatchObject({
      system: [{ type: 'text', text: long, cache_control: mark }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: mark }] }],
    })
    expect(send({ format: 'bedrock' }, 'eu.anthropic.claude-sonnet-4-6')).toMatchObject({
      system: [{ text: long }, { cachePoint: { type: 'default' } }],
      messages: [{ role: 'user', content: [{ text: 'Hi' }, { cachePoint: { type: 'default' } }] }],
    })
  })

  test('is marked in gateway calls only if the operator enabled it, and not if it is short', () => {
    const plain = messages.map(({ role, content }) => ({ role, content }))
    const on = { format: 'anthropic' as const, quirks: { promptCaching: true } }
    expect(JSON.stringify(send({ format: 'anthropic' }, 'claude-sonnet-4-6', plain as typeof messages))).not.toContain(
      'cache_control',
    )
    expect(JSON.stringify(send(on, 'claude-sonnet-4-6', plain as typeof messages)).split('cache_control')).toHaveLength(
      3,
    )
    const short = [{ ...messages[0]!, content: 'Be short.' }, messages[1]!]
    expect(JSON.stringify(send(on, 'claude-sonnet-4-6', short))).not.toContain('cache_control')
    expect(JSON.stringify(send({ format: 'bedrock' }, 'meta.llama4', messages))).not.toContain('cachePoint')
  })
})

describe('a call to Ollama', () => {
  const contextOf = (characters: number, maxOutputTokens?: number, contextTokens = 131_072) => {
    const messages = [{ role: 'user' as const, content: 'a'.repeat(characters) }]
    const call = providerCall(
      { messages, ...(maxOutputTokens !== undefined && { maxOutputTokens }) },
      { id: 'llama3', contextTokens, maxOutputTokens: 131_072 },
    )
    const { body } = adapterOf({ format: 'ollama' }).toRequest(call, { stream: true })
    return (body as { options: { num_ctx: number } }).options.num_ctx
  }

  test('requests a context for the prompt and the answer, in steps, at most the model’s', () => {
    expect(contextOf(10)).toBe(8_192)
    expect(contextOf(5_000)).toBe(8_192)
    expect(contextOf(40_000)).toBe(32_768)
    expect(contextOf(10, 12_000)).toBe(16_384)
    expect(contextOf(10_000_000)).toBe(131_072)
    expect(contextOf(10, undefined, 4_096)).toBe(4_096)
  })
})
