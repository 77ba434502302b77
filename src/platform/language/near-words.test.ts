import { describe, expect, test } from 'vitest'
import { nearWords } from './index.ts'

const near = (word: string) => nearWords(word, 'en').map((one) => one.word)

describe('near words', () => {
  test.each([
    ['holiday', 'vacation'],
    ['doctors', 'physician'],
    ['quitting', 'resign'],
    ['teeth', 'dental'],
    ['spam', 'email'],
  ])('%s is near %s', (word, other) => {
    expect(near(word)).toContain(other)
  })

  test('a synonym is nearer than a word of the same subject', () => {
    const strengthOf = (other: string) => nearWords('car', 'en').find(({ word }) => word === other)!.strength
    expect(strengthOf('automobile')).toBeGreaterThan(strengthOf('mechanic'))
  })

  test('both words of a pair have the other', () => {
    for (const word of near('pension')) expect(near(word)).toContain('pension')
  })

  test('a word in another language and an unknown word have none', () => {
    expect(nearWords('handy', 'de')).toEqual([])
    expect(near('xqzzy')).toEqual([])
  })
})
