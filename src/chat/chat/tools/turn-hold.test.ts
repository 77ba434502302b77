import { expect, test } from 'vitest'
import { createTurnHold } from './turn-hold.ts'

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
