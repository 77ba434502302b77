import { expect, test } from 'vitest'
import { createSentenceReader } from './announce.ts'

test('reads each sentence once, when it has ended', () => {
  const read = createSentenceReader()
  const text = 'The canteen **opens** at 11.30 [1]. On Fridays there is fish [2]. It closes'
  expect(read('The canteen **opens** at 11.', false)).toBe('')
  expect(read(text.slice(0, 40), false)).toBe('The canteen opens at 11.30.')
  expect(read(text, false)).toBe('On Fridays there is fish.')
  expect(read(text, true)).toBe('It closes')
  expect(read(text, true)).toBe('')
})

test('reads lists, headings, tables and links without their signs', () => {
  const read = createSentenceReader()
  const text = '## Prices\n- [Lamp](https://example.org/lamp)\n1. Chair\n| a | b |\n|---|---|\n| 1 | 2 |\n'
  expect(read(text, true)).toBe('Prices Lamp 1. Chair a b 1 2')
})
