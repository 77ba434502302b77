import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { wordRecall } from '../../../scripts/corpus/word-recall.ts'
import { sharedDataFolder } from '../../../test/harness/shared-data.ts'
import { detectFormat, detectionHeadBytes } from './detect-format.ts'
import type { DocumentFormat, ExtractedBlock } from './extraction.ts'
import { createFileExtractor } from './extractors/extract-file.ts'
import { defaultLimits } from './isolation/limits.ts'

/** Real files of the types of version 2, with the words that they show. */

interface CorpusFile {
  id: string
  kind: DocumentFormat
  expected_file: string
  headings?: string[]
  /** Column, and two texts of one row. */
  probes?: [string, string, string][]
  /** Hidden sheets. */
  hidden?: string[]
  /** Title and first words of each slide. */
  slides?: [string, string][]
  notes?: string
}

const leastRecall = 0.97
const folder = sharedDataFolder('office-and-scans')
const files = folder
  ? (JSON.parse(await readFile(path.join(folder, 'index.json'), 'utf8')) as { files: CorpusFile[] }).files
  : []
const extractor = createFileExtractor()

async function extract({ id, kind }: CorpusFile): Promise<ExtractedBlock[]> {
  const filePath = path.join(folder!, id)
  const sizeBytes = (await stat(filePath)).size
  const limits = defaultLimits(kind, sizeBytes)
  const blocks: ExtractedBlock[] = []
  for await (const batch of extractor.extract(kind, {
    filePath,
    sizeBytes,
    limits,
    report: { progress() {}, warn() {} },
  }))
    blocks.push(...batch)
  return blocks
}

const kinds = ['html', 'xlsx', 'pptx']
const ofKind = (...wanted: string[]) => files.filter(({ kind }) => wanted.includes(kind))
const textOf = (blocks: ExtractedBlock[]) => blocks.map(({ text }) => text).join('\n')

describe.skipIf(!folder)(`the shared office files${folder ? '' : ' (folder is missing)'}`, () => {
  test.each(ofKind(...kinds))('$id yields its words', async (file) => {
    const expected = await readFile(path.join(folder!, file.expected_file), 'utf8')
    const recall = wordRecall(expected, textOf(await extract(file)))
    expect(recall).toBeGreaterThanOrEqual(leastRecall)
  })

  test.each(ofKind(...kinds))('$id is accepted by its name and content', async ({ id, kind }) => {
    const head = (await readFile(path.join(folder!, id))).subarray(0, detectionHeadBytes)
    expect(detectFormat({ fileName: path.basename(id), head }, 2)).toMatchObject({ supported: true, format: kind })
    expect(detectFormat({ fileName: path.basename(id), head }, 1)).toMatchObject({ supported: false })
  })

  test.each(ofKind('html'))('$id gives its headings', async (file) => {
    const given = (await extract(file)).filter(({ kind }) => kind === 'heading').map(({ text }) => text)
    expect(given).toEqual(expect.arrayContaining(file.headings ?? []))
  })

  test.each(ofKind('xlsx'))(
    '$id has its rows, and its hidden sheets by name',
    async ({ probes = [], hidden = [], ...file }) => {
      const blocks = await extract(file)
      const rows = blocks.filter(({ kind }) => kind === 'table_row').map(({ text }) => text.split(' | '))
      for (const [, label, value] of probes)
        expect(rows.filter((row) => row.includes(label) && row.includes(value))).not.toEqual([])
      const names = blocks.filter(({ kind }) => kind === 'heading').map(({ text }) => text)
      for (const name of hidden) expect(names).toContain(`${name} (hidden)`)
    },
  )

  test.each(ofKind('pptx'))('$id has its slides and notes in order', async ({ slides = [], notes = '', ...file }) => {
    const blocks = await extract(file)
    for (const [index, [title, beginning]] of slides.entries()) {
      const [heading, ...rest] = blocks.filter(({ page }) => page === index + 1)
      if (title !== '') expect(heading?.text).toBe(title)
      expect(wordRecall(beginning, textOf(rest))).toBe(1)
    }
    expect(wordRecall(notes, textOf(blocks))).toBeGreaterThanOrEqual(leastRecall)
  })
})
