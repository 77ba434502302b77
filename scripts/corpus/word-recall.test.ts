import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { sharedDataFolder } from '../../test/harness/shared-data.ts'
import { joinChunks } from './client.ts'
import { splitWords, wordRecall } from './word-recall.ts'

const folder = sharedDataFolder('docs')
const files = folder
  ? (JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as { files: Counted[] }).files
  : []
interface Counted {
  id: string
  expected_file?: string
  expected_words?: number
}

describe('word recall of the corpus', () => {
  it('counts each expected word as often as it is in the text, and no overlap twice', () => {
    expect(wordRecall('one two two', 'two ONE')).toBeCloseTo(2 / 3)
    expect(splitWords('Ａpple 概要x กข')).toEqual(['apple', '概', '要', 'x', 'ก', 'ข'])
    const chunks = [
      { text: 'first second', characterFrom: 0, characterTo: 12 },
      { text: 'second 𝒕hird', characterFrom: 6, characterTo: 18 },
      { text: 'alone', characterFrom: 19, characterTo: 24 },
    ]
    expect(splitWords(joinChunks(chunks))).toEqual(['first', 'second', 'third', 'alone'])
  })

  it.skipIf(files.length === 0)('splits words like the tools that counted the expected words', () => {
    for (const file of files) {
      if (file.expected_file === undefined || file.expected_words === undefined) continue
      const words = splitWords(readFileSync(path.join(folder!, file.expected_file), 'utf8'))
      expect([file.id, words.length]).toEqual([file.id, file.expected_words])
    }
  })
})
