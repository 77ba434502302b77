import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedDataFolder } from '../../../test/harness/shared-data.ts'
import { chunkBlocks } from './chunking/chunk-blocks.ts'
import { ExtractionError, type DocumentFormat, type ExtractedBlock } from './extraction.ts'
import { createFileExtractor } from './extractors/extract-file.ts'
import { defaultLimits } from './isolation/limits.ts'
import { wordRecall } from '../../../scripts/corpus/word-recall.ts'

interface CorpusFile {
  file: string
  format: DocumentFormat
  outcome: 'text' | 'text_or_error' | 'no_text' | 'error'
  failure_class?: 'password_protected' | 'corrupt' | 'empty' | 'no_text_layer' | 'unsupported' | 'resource_limit'
  expected_file?: string
  expected_rows_file?: string
  min_word_recall?: number
  pages?: number
  csv?: { rows: number; first_row: string[] }
  headings?: [number, string][]
}

/** The codes that are right for each class of failure. */
const codesOfClass: Record<string, string[]> = {
  password_protected: ['encrypted_pdf', 'encrypted_docx'],
  corrupt: ['corrupt_file'],
  empty: ['empty_file', 'no_text'],
  no_text_layer: ['no_text'],
}

const folder = sharedDataFolder('docs')
const files: CorpusFile[] = folder
  ? (JSON.parse(await readFile(path.join(folder, 'index.json'), 'utf8')) as { files: CorpusFile[] }).files
  : []
const extractor = createFileExtractor()

async function extract(file: CorpusFile) {
  const filePath = path.join(folder!, file.file)
  const sizeBytes = (await stat(filePath)).size
  const report = { progress() {}, warn() {} }
  const limits = defaultLimits(file.format, sizeBytes)
  const blocks: ExtractedBlock[] = []
  let failure: ExtractionError | null = null
  try {
    for await (const batch of extractor.extract(file.format, { filePath, sizeBytes, limits, report }))
      blocks.push(...batch)
  } catch (error) {
    if (!(error instanceof ExtractionError)) throw error
    failure = error
  }
  return { blocks, text: blocks.map(({ text }) => text).join('\n'), failure }
}

const expectedText = (file: CorpusFile) => readFile(path.join(folder!, file.expected_file!), 'utf8')
const withOutcome = (...outcomes: string[]) => files.filter(({ outcome }) => outcomes.includes(outcome))

describe.skipIf(!folder)(`each shared document meets its outcome${folder ? '' : ' (folder is missing)'}`, () => {
  test.each(withOutcome('text'))('$file yields its words', async (file) => {
    const { blocks, text, failure } = await extract(file)
    expect(failure).toBeNull()
    expect(wordRecall(await expectedText(file), text)).toBeGreaterThanOrEqual(file.min_word_recall!)
    // oxlint-disable-next-line no-control-regex -- the test checks that there are none
    for (const block of blocks) expect(block.text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
    for (const block of blocks) expect(block.text.normalize('NFC')).toBe(block.text)
  })

  test.each(withOutcome('no_text', 'error'))('$file fails with a matching reason', async (file) => {
    const { failure } = await extract(file)
    expect(codesOfClass[file.failure_class!]).toContain(failure?.code)
  })

  test.each(withOutcome('text_or_error'))('$file yields text or a reason', async (file) => {
    const { text, failure } = await extract(file)
    expect(text.trim() !== '' || failure !== null).toBe(true)
  })

  test.each(files.filter(({ format, outcome, pages }) => format === 'pdf' && outcome === 'text' && pages! > 1))(
    '$file keeps the words of each page on its page',
    async (file) => {
      const { blocks } = await extract(file)
      for (const [index, expected] of (await expectedText(file)).split('\f').slice(0, file.pages).entries()) {
        const onPage = blocks.filter(({ page }) => page === index + 1).map(({ text }) => text)
        expect(wordRecall(expected, onPage.join('\n')), `page ${index + 1}`).toBeGreaterThanOrEqual(
          file.min_word_recall! - 0.1,
        )
      }
    },
  )

  test.each(files.filter(({ csv }) => csv))('$file yields each of its rows', async (file) => {
    const { blocks } = await extract(file)
    expect(blocks).toHaveLength(file.csv!.rows)
    expect(blocks[0]!.text.startsWith(file.csv!.first_row.slice(0, 3).join(' | '))).toBe(true)
    if (!file.expected_rows_file) return
    const rows = JSON.parse(await readFile(path.join(folder!, file.expected_rows_file), 'utf8')) as Record<
      string,
      string
    >[]
    const cells = blocks.filter(({ row }) => row !== undefined).map(({ text }) => text)
    const header = Object.keys(rows[0]!)
    expect(blocks[0]!.header).toEqual(header)
    expect(cells).toEqual(rows.map((row) => header.map((name) => row[name]!.replace(/\s+/g, ' ').trim()).join(' | ')))
  })

  test.each(files.filter(({ headings }) => headings && headings.length > 0))(
    '$file gives its headings',
    async (file) => {
      const { blocks } = await extract(file)
      const given = blocks
        .filter(({ kind }) => kind === 'heading')
        .map(({ level, text }) => `${level} ${comparable(text)}`)
      const expected = file
        .headings!.map(([level, text]) => `${level} ${comparable(text)}`)
        .filter((text) => /\p{L}/u.test(text))
      expect(given.filter((text) => expected.includes(text)).length).toBeGreaterThanOrEqual(expected.length * 0.9)
    },
  )

  test('all of them become chunks with exact positions, none too large', async () => {
    const countTokens = (text: string) => (text.match(/[\p{L}\p{N}]{1,5}|[^\s\p{L}\p{N}]/gu)?.length ?? 0) + 2
    for (const file of withOutcome('text')) {
      const { blocks, text } = await extract(file)
      const characters = Array.from(text)
      const options = { countTokens, targetTokens: 250, maximumTokens: 400, overlapTokens: 30 }
      async function* batches() {
        yield blocks
      }
      for await (const chunk of chunkBlocks(batches(), options)) {
        const place = characters.slice(chunk.characterFrom, chunk.characterTo)
        // Chunks of some columns of a wide table name the range of their rows.
        if (chunk.rowFrom === null || Array.from(chunk.text).length === place.length)
          expect(chunk.text).toBe(place.join(''))
        expect(chunk.tokens).toBeLessThanOrEqual(400)
      }
    }
  })
})

function comparable(text: string): string {
  return text
    .replace(/[\\*_`"“”]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
}
