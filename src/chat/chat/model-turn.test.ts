import { expect, test } from 'vitest'
import { createReasoningRemoval, createTurnHold } from './answer-calls.ts'

/** The text that readers get, for every way to cut it into two or three pieces, and into single characters. */
function readAll(text: string): Set<string> {
  const results = new Set<string>()
  const read = (pieces: string[]) => {
    const removal = createReasoningRemoval()
    results.add(pieces.map((piece) => removal.push(piece)).join('') + removal.end())
  }
  read([...text])
  for (let first = 0; first <= text.length; first++)
    for (let second = first; second <= text.length; second++)
      read([text.slice(0, first), text.slice(first, second), text.slice(second)])
  return results
}

test.each([
  ['<think>a plan [1]</think>\n\nThe answer.', 'The answer.'],
  ['\n <Thinking>a\nb</THINKING> Yes', 'Yes'],
  ['<think>a</think><reasoning>b</reasoning>\nYes', 'Yes'],
  ['<think></think>Yes', 'Yes'],
  ['<thought>1 < 2 </thinking></thought>Yes', 'Yes'],
  ['<think>never ended', ''],
  ['<think>', ''],
])('removes the blocks of %j, however it is cut', (text, answer) => {
  expect([...readAll(text)]).toEqual([answer])
})

test.each([
  'The tag <think> begins it, </think> ends it.',
  '`<think>` is a tag.',
  '<thin',
  '<p>Yes</p>',
  '< think >',
  '  Yes',
  '',
])('leaves %j as it is', (text) => {
  expect([...readAll(text)]).toEqual([text])
})

test('holds no more of a long block than its end may be', () => {
  const removal = createReasoningRemoval()
  removal.push('<think>')
  let work = 0
  const spied = 'x'.repeat(1_000)
  for (let n = 0; n < 1_000; n++) work += removal.push(spied).length
  expect(work).toBe(0)
  expect(removal.push('</think>Yes')).toBe('Yes')
})

const answering = { callsTools: false }

test('passes text on at once where nothing is held', () => {
  expect(createTurnHold(0).push('a', answering)).toBe('a')
})

test('holds the beginning, and passes it on with what makes it too long', () => {
  const hold = createTurnHold(3)
  expect([hold.push('ab', answering), hold.push('cd', answering), hold.push('e', answering), hold.end()]).toEqual([
    '',
    'abcd',
    'e',
    '',
  ])
})

test('passes a short turn on at its end', () => {
  const hold = createTurnHold(3)
  hold.push('ab', answering)
  expect(hold.end()).toBe('ab')
})

test('drops what was held before a tool call, and all text after it', () => {
  const hold = createTurnHold(3)
  hold.push('ab', answering)
  expect([hold.push('c', { callsTools: true }), hold.push('defg', { callsTools: true }), hold.end()]).toEqual([
    '',
    '',
    '',
  ])
})
