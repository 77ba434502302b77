import { expect, it } from 'vitest'
import {
  type Answer,
  blankAnswer,
  isAwaitingResults,
  requestBody,
  type RequestSettings,
  type Turn,
  type TurnInput,
  withoutFailedResults,
} from './request.ts'

const settings: RequestSettings = {
  model: 'm',
  system: ' ',
  temperature: 0,
  maximumTokens: undefined,
  tools: [],
  schema: undefined,
}
const question = (text: string): TurnInput => ({ kind: 'question', text, attachments: [] })
const turn = (input: TurnInput, answer: Partial<Answer>): Turn => ({
  id: 1,
  input,
  answer: { ...blankAnswer, state: 'done', ...answer },
})
const calls = [{ id: 'call_1', name: 'weather', arguments: '{"city": "Basel"}' }]
const results = { kind: 'results' as const, results: { call_1: 'sun' } }
const toolCalls = [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city": "Basel"}' } }]

it('sends calls with their results and the reasoning that belongs to them', () => {
  const reasoningDetails = [{ type: 'reasoning.encrypted', data: 'x' }]
  const turns = [
    turn(question('How is it?'), { calls, reasoning: 'Look it up.', reasoningDetails }),
    turn(results, { text: 'Sunny.' }),
    turn(question('Thanks'), { state: 'waiting' }),
  ]
  expect(requestBody(settings, turns)).toEqual({
    model: 'm',
    temperature: 0,
    messages: [
      { role: 'user', content: 'How is it?' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'Look it up.',
        reasoning_details: reasoningDetails,
        tool_calls: toolCalls,
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'sun' },
      { role: 'assistant', content: 'Sunny.' },
      { role: 'user', content: 'Thanks' },
    ],
  })
})

it('leaves out calls that got no results, and answers without text', () => {
  const turns = [
    turn(question('One'), { calls, text: 'Let me look.' }),
    turn(question('Two'), { calls }),
    turn(question('Three'), { state: 'waiting' }),
  ]
  expect(requestBody(settings, turns)['messages']).toEqual([
    { role: 'user', content: 'One' },
    { role: 'assistant', content: 'Let me look.' },
    { role: 'user', content: 'Two' },
    { role: 'user', content: 'Three' },
  ])
})

it('sends images and PDF files as parts, with the text before them', () => {
  const attachment = { id: 1, bytes: 3, dataUrl: 'data:x;base64,AAAA' }
  const attachments = [
    { ...attachment, name: 'a.png', kind: 'image' as const, mediaType: 'image/png' },
    { ...attachment, name: 'b.pdf', kind: 'pdf' as const, mediaType: 'application/pdf' },
  ]
  const parts = [
    { type: 'image_url', image_url: { url: 'data:x;base64,AAAA' } },
    { type: 'file', file: { filename: 'b.pdf', file_data: 'data:x;base64,AAAA' } },
  ]
  const sent = (text: string) =>
    requestBody(settings, [turn({ kind: 'question', text, attachments }, { state: 'waiting' })])['messages']
  expect(sent('What?')).toEqual([{ role: 'user', content: [{ type: 'text', text: 'What?' }, ...parts] }])
  expect(sent(' ')).toEqual([{ role: 'user', content: parts }])
})

it('takes results again after they could not be sent', () => {
  const called = turn(question('How is it?'), { calls })
  const failed = turn(results, { state: 'failed' })
  expect(isAwaitingResults([called])).toBe(true)
  expect(isAwaitingResults([called, failed])).toBe(true)
  expect(withoutFailedResults([called, failed])).toEqual([called])
  expect(isAwaitingResults([called, turn(results, { text: 'Sunny.' })])).toBe(false)
  expect(isAwaitingResults([turn(question('How is it?'), { calls, state: 'stopped' })])).toBe(false)
})
