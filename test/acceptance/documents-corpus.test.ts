import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkFile, type CorpusFile } from '../../scripts/corpus/check-file.ts'
import { createCorpusClient, joinChunks } from '../../scripts/corpus/client.ts'
import { splitWords, wordRecall } from '../../scripts/corpus/word-recall.ts'
import { startPortico } from '../harness/portico.ts'
import { sharedDataFolder } from '../harness/shared-data.ts'

const folder = sharedDataFolder('docs')
const files = folder
  ? (JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as { files: (CorpusFile & Counted)[] }).files
  : []
interface Counted {
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

describe.skipIf(files.length === 0)(
  `the corpus${files.length === 0 ? ' (skipped: shared data not found)' : ''}`,
  () => {
    it('has the expected outcome for each file uploaded through the API', async () => {
      await using portico = await startPortico()
      const client = await createCorpusClient(portico)
      const different: string[] = []
      const queue = [...files]
      const worker = async () => {
        for (let file = queue.shift(); file; file = queue.shift()) {
          const { passed, expected, outcome } = await checkFile(client, folder!, file)
          if (!passed) different.push(`${file.id}: expected ${expected}, got ${outcome}`)
        }
      }
      await Promise.all(Array.from({ length: 6 }, worker))
      expect(different).toEqual([])
      expect(await portico.operator('GET', '/api/audit')).toMatchObject({
        status: 200,
        body: { ok: true, findings: [] },
      })
    }, 180_000)
  },
)
