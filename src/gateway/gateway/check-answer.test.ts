import { expect, test } from 'vitest'
import type { ProviderRequest } from '../providers/index.ts'
import { createStreamVerdict, findMismatch } from './relay.ts'

const request: ProviderRequest = {
  messages: [],
  responseFormat: { type: 'json_schema', name: 'place', schema: { type: 'object', required: ['city'] } },
}
const good = '{"city":"Basel"}'

test('compares each of several answers', () => {
  const answers = (text: string) => [
    { text: good, finishReason: 'stop' as const },
    { text, finishReason: 'stop' as const },
  ]
  expect(findMismatch(request, answers(good))).toBeNull()
  expect(findMismatch(request, answers('{}'))).toEqual({ instance: '', keyword: 'required' })
  expect(findMismatch({}, answers('{}'))).toBeNull()
})

test('keeps the texts of several streamed answers apart', () => {
  const verdict = createStreamVerdict(request)!
  verdict.take([
    { type: 'text', text: '{"city":' },
    { type: 'text', text: '{"city"', choice: 1 },
    { type: 'text', text: '"Basel"}' },
    { type: 'text', text: ':"Bern"}', choice: 1 },
    { type: 'text', text: 'I look.', choice: 2 },
    { type: 'choice_finish', choice: 2, finishReason: 'tool_calls', wireFinishReason: null },
  ])
  expect(verdict.find()).toBeNull()
  verdict.take([{ type: 'text', text: '{}', choice: 3 }])
  expect(verdict.find()).toEqual({ instance: '', keyword: 'required' })
  expect(createStreamVerdict({ messages: [] })).toBeNull()
})
