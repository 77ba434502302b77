import { describe, expect, test } from 'vitest'
import { needsOf, type ProviderRequest } from './index.ts'

const picture = { type: 'image', source: { kind: 'url', url: 'https://example.org/a.png' } } as const

describe('the needs of a request', () => {
  test.each<[string[], Partial<ProviderRequest>]>([
    [[], {}],
    [[], { tools: [], toolChoice: 'auto', choices: 1, parallelToolCalls: true, logprobs: false }],
    [['images'], { messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, picture] }] }],
    [
      ['tools', 'images', 'named_tool_choice', 'parallel_tools'],
      {
        messages: [{ role: 'tool', toolCallId: 'a', content: [picture] }],
        tools: [{ name: 'look', parameters: {} }],
        toolChoice: { name: 'look' },
        parallelToolCalls: false,
      },
    ],
    [
      ['json_object', 'several_choices', 'logprobs'],
      { responseFormat: { type: 'json_object' }, choices: 2, logprobs: true },
    ],
    [
      ['use:web_search', 'hosted:openai'],
      { hostedTools: [{ family: 'openai', kind: 'web_search', type: 'web_search', definition: {} }] },
    ],
    [
      ['use:web_search', 'hosted:openai|gemini', 'json_object', 'tools_with_schema'],
      {
        hostedTools: [
          {
            family: 'openai',
            kind: 'web_search',
            type: 'web_search',
            definition: {},
            forms: { gemini: { googleSearch: {} } },
          },
        ],
        responseFormat: { type: 'json_object' },
      },
    ],
  ])('are %j for %j', (needed, request) => {
    expect([...needsOf({ messages: [{ role: 'user', content: 'Hi' }], ...request })]).toEqual(needed)
  })
})
