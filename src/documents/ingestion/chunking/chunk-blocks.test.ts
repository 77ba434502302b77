import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Chunk, ExtractedBlock } from '../extraction.ts'
import { tableRowText } from '../extractors/table-row.ts'
import { chunkBlocks } from './chunk-blocks.ts'
import type { ChunkingOptions } from './chunk-sizes.ts'

/** Counts much like a subword tokenizer: pieces of up to four letters, every sign for itself, two for begin and end. */
const countTokens = (text: string) => (text.match(/[\p{L}\p{N}]{1,4}|[^\s\p{L}\p{N}]/gu)?.length ?? 0) + 2

const options: ChunkingOptions = { countTokens, targetTokens: 60, maximumTokens: 80, overlapTokens: 15 }

async function chunksOf(blocks: ExtractedBlock[], changed: Partial<ChunkingOptions> = {}): Promise<Chunk[]> {
  async function* batches() {
    for (let index = 0; index < blocks.length; index += 3) yield blocks.slice(index, index + 3)
  }
  return Array.fromAsync(chunkBlocks(batches(), { ...options, ...changed }))
}

/** Chunks of some columns of a wide table repeat cells of whole rows. */
const isWhole = (chunk: Chunk) => Array.from(chunk.text).length === chunk.characterTo - chunk.characterFrom

const extractedText = (blocks: ExtractedBlock[]) => blocks.map(({ text }) => text).join('\n')
const paragraph = (text: string, more: Partial<ExtractedBlock> = {}): ExtractedBlock => ({
  kind: 'paragraph',
  text,
  ...more,
})
const heading = (level: number, text: string): ExtractedBlock => ({ kind: 'heading', level, text })
const sentences = (count: number, word = 'word') =>
  Array.from({ length: count }, (_, index) => `Sentence ${index} has a ${word} in it.`).join(' ')

test('counts the tokens of a chunk of several blocks once', async () => {
  const counted: string[] = []
  const counter = (text: string) => {
    counted.push(text)
    return countTokens(text)
  }
  const [chunk] = await chunksOf([paragraph('One line.'), paragraph('Another line.')], { countTokens: counter })
  expect(counted.filter((text) => text === chunk!.text)).toHaveLength(1)
})

const textArbitrary = fc.oneof(
  fc.lorem({ maxCount: 60 }),
  fc.lorem({ mode: 'sentences', maxCount: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.integer({ min: 1, max: 900 }).map((length) => '漢字かな交じり文。'.repeat(length).slice(0, length)),
  fc.integer({ min: 1, max: 60 }).map((count) => '👨‍👩‍👧‍👦'.repeat(count)),
  fc.integer({ min: 1, max: 200 }).map((count) => `e${'\u0301'.repeat(count)}`),
)
const blockArbitrary: fc.Arbitrary<ExtractedBlock> = fc
  .record({
    kind: fc.constantFrom('heading', 'paragraph', 'paragraph', 'list_item', 'code', 'quote', 'footnote' as const),
    text: textArbitrary,
    level: fc.integer({ min: 1, max: 6 }),
    page: fc.integer({ min: 1, max: 9 }),
  })
  .map(({ kind, text, level, page }) => ({ kind, text, page, ...(kind === 'heading' ? { level } : {}) }))
const tableArbitrary: fc.Arbitrary<ExtractedBlock[]> = fc
  .tuple(
    fc.array(fc.lorem({ maxCount: 2 }), { minLength: 1, maxLength: 30 }),
    fc.integer({ min: 0, max: 20 }),
    fc.boolean(),
  )
  .map(([header, rows, named]) => [
    ...(named ? [{ kind: 'table_row' as const, text: tableRowText(header), header }] : []),
    ...Array.from({ length: rows }, (_, index) => ({
      kind: 'table_row' as const,
      text: tableRowText(header.map((cell) => `${cell} ${index}`)),
      row: index + 1,
      ...(named ? { header } : {}),
    })),
  ])
const documentArbitrary = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: blockArbitrary.map((block) => [block]) },
      { weight: 1, arbitrary: tableArbitrary },
    ),
    {
      maxLength: 14,
    },
  )
  .map((parts) => parts.flat().filter(({ text }) => text !== ''))

const property = (check: (blocks: ExtractedBlock[], chunks: Chunk[]) => void | Promise<void>) =>
  fc.assert(
    fc.asyncProperty(documentArbitrary, async (blocks) => check(blocks, await chunksOf(blocks))),
    { seed: 20261121, numRuns: 300 },
  )

describe('any document', () => {
  test('a chunk is exactly its range of code points of the extracted text, but for columns of wide tables', () =>
    property((blocks, chunks) => {
      const characters = Array.from(extractedText(blocks))
      for (const chunk of chunks.filter(isWhole))
        expect(chunk.text).toBe(characters.slice(chunk.characterFrom, chunk.characterTo).join(''))
    }))

  test('all text is in a chunk', () =>
    property((blocks, chunks) => {
      const characters = Array.from(extractedText(blocks))
      const covered = new Uint8Array(characters.length)
      for (const chunk of chunks.filter(isWhole)) covered.fill(1, chunk.characterFrom, chunk.characterTo)
      expect(characters.findIndex((character, index) => character.trim() !== '' && covered[index] === 0)).toBe(-1)
    }))

  test('no chunk is larger than the maximum, its table header included, and none is empty', () =>
    property((_, chunks) => {
      for (const { text, tableHeader, tokens } of chunks) {
        const body = tableHeader === null ? text : `${tableHeader}\n${text}`
        expect(tokens).toBe(countTokens(body))
        expect(tokens).toBeLessThanOrEqual(options.maximumTokens)
        expect(text).not.toBe('')
      }
    }))

  test('chunks never split a grapheme that fits into one', () =>
    property((blocks, chunks) => {
      const text = extractedText(blocks)
      const borders = new Set<number>([0])
      let at = 0
      for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
        const inside = Array.from(segment).length
        if (countTokens(segment) > options.targetTokens * 0.4) for (let k = 0; k < inside; k += 1) borders.add(at + k)
        at += inside
        borders.add(at)
      }
      // Block borders are borders in any case: a mark at a block's begin would join the line feed before it.
      at = 0
      for (const block of blocks) {
        borders.add(at)
        at += Array.from(block.text).length + 1
        borders.add(at - 1)
      }
      for (const chunk of chunks) {
        expect(borders.has(chunk.characterFrom), `begin of ${JSON.stringify(chunk.text)}`).toBe(true)
        expect(borders.has(chunk.characterTo), `end of ${JSON.stringify(chunk.text)}`).toBe(true)
      }
    }))

  test('chunks are numbered in order, move forward, and are the same each time', () =>
    property(async (blocks, chunks) => {
      expect(chunks.map(({ index }) => index)).toEqual(chunks.keys().toArray())
      const whole = chunks.filter(isWhole)
      for (const [index, chunk] of whole.entries()) {
        const former = whole[index - 1]
        if (former) {
          expect(chunk.characterFrom).toBeGreaterThan(former.characterFrom)
          expect(chunk.characterTo).toBeGreaterThan(former.characterTo)
        }
      }
      expect(await chunksOf(blocks)).toEqual(chunks)
    }))
})

describe('structure', () => {
  test('a section begins a chunk and names the headings above it', async () => {
    const chunks = await chunksOf([
      heading(1, 'Handbook'),
      paragraph(sentences(4, 'first')),
      heading(2, 'Holidays'),
      paragraph(sentences(4, 'second')),
      heading(2, 'Travel'),
      paragraph(sentences(9, 'third')),
    ])
    expect(chunks[0]!.text).toMatch(/^Handbook\nSentence 0/)
    expect(chunks[0]!.headingPath).toEqual([])
    expect(chunks[1]!.text).toMatch(/^Holidays\nSentence 0/)
    expect(chunks[1]!.headingPath).toEqual(['Handbook'])
    expect(chunks[2]!.headingPath).toEqual(['Handbook'])
    expect(chunks.at(-1)!.headingPath).toEqual(['Handbook', 'Travel'])
    expect(chunks.at(-1)!.text).not.toContain('Travel')
  })

  test('a heading is never at the end of a chunk, away from its text', async () => {
    for (let count = 1; count < 14; count += 1) {
      const chunks = await chunksOf([paragraph(sentences(count)), heading(2, 'Below'), paragraph(sentences(5, 'tail'))])
      for (const chunk of chunks) expect(chunk.text.endsWith('Below')).toBe(false)
    }
  })

  test('small sections share a chunk', async () => {
    const chunks = await chunksOf([heading(2, 'A'), paragraph('One.'), heading(2, 'B'), paragraph('Two.')])
    expect(chunks).toHaveLength(1)
  })

  test('each chunk of rows carries the header and its rows', async () => {
    const header = ['Name', 'City']
    const rows = Array.from({ length: 40 }, (_, index) => ({
      kind: 'table_row' as const,
      text: tableRowText([`Person ${index}`, `Town ${index}`]),
      header,
      row: index + 1,
    }))
    const chunks = await chunksOf([{ kind: 'table_row', text: tableRowText(header), header }, ...rows])
    expect(chunks.length).toBeGreaterThan(3)
    let next = 1
    for (const [index, chunk] of chunks.entries()) {
      const lines = [...(chunk.tableHeader === null ? [] : [chunk.tableHeader]), ...chunk.text.split('\n')]
      expect(lines[0]).toBe('Name | City')
      expect(chunk.tableHeader === null).toBe(index === 0)
      expect(chunk.rowFrom).toBe(next)
      next = chunk.rowTo! + 1
      expect(lines).toHaveLength(chunk.rowTo! - chunk.rowFrom! + 2)
    }
    expect(next).toBe(41)
  })

  test('a short text before a table stays with its first rows', async () => {
    const header = ['Name', 'City']
    const chunks = await chunksOf([
      paragraph('Who lives where:'),
      { kind: 'table_row', text: tableRowText(header), header },
      { kind: 'table_row', text: tableRowText(['Ann', 'Rome']), header, row: 1 },
      paragraph('After the table.'),
    ])
    expect(chunks.map(({ text }) => text)).toEqual(['Who lives where:\nName | City\nAnn | Rome', 'After the table.'])
  })

  test('a header without rows is text like any other', async () => {
    const header = ['Name', 'City']
    const [chunk] = await chunksOf([{ kind: 'table_row', text: tableRowText(header), header }])
    expect(chunk).toMatchObject({ text: 'Name | City', tableHeader: null })
  })

  test('a header too long for a chunk is cut between cells, and rows keep room', async () => {
    const header = Array.from({ length: 80 }, (_, index) => `column${index}`)
    const chunks = await chunksOf([
      { kind: 'table_row', text: tableRowText(header), header },
      { kind: 'table_row', text: tableRowText(['a', 'b']), header, row: 1 },
    ])
    expect(chunks.at(-1)!.tableHeader).toMatch(/^column0 \| column1 .*\| …$/)
    expect(chunks.at(-1)!.text).toMatch(/(^|\n)a \| b$/)
  })

  test('the next chunk repeats the last sentences where a size limit splits a text', async () => {
    const chunks = await chunksOf([paragraph(sentences(30))])
    for (const [index, chunk] of chunks.entries()) {
      if (index > 0) expect(chunk.characterFrom).toBeLessThan(chunks[index - 1]!.characterTo)
      expect(chunk.text).toMatch(/^Sentence \d+ has/)
      expect(chunk.text).toMatch(/in it\.$/)
    }
    const without = await chunksOf([paragraph(sentences(30))], { overlapTokens: 0 })
    for (const [index, chunk] of without.entries())
      if (index > 0) expect(chunk.characterFrom).toBeGreaterThanOrEqual(without[index - 1]!.characterTo)
  })

  test('pages of a chunk are the pages of its text', async () => {
    const chunks = await chunksOf([
      paragraph('On page one.', { page: 1 }),
      paragraph('On page two.', { page: 2 }),
      paragraph(sentences(12), { page: 3 }),
    ])
    expect(chunks[0]).toMatchObject({ pageFrom: 1, pageTo: 3, pageStarts: [13, 26] })
    expect(chunks.at(-1)).toMatchObject({ pageFrom: 3, pageTo: 3, pageStarts: [] })
  })

  test('contradictory limits are rejected', async () => {
    await expect(chunksOf([], { targetTokens: 100 })).rejects.toThrow(RangeError)
    await expect(chunksOf([], { overlapTokens: 40 })).rejects.toThrow(RangeError)
  })
})

describe('code', () => {
  const code = (text: string): ExtractedBlock => ({ kind: 'code', text })
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `    call(${index})  `).join('\n\n')

  test('stays in one chunk where it fits, whatever is before it', async () => {
    const fence = `\`\`\`js\n${lines(8)}\n\`\`\``
    const chunks = await chunksOf([paragraph(sentences(5)), code(fence), paragraph(sentences(5))])
    expect(chunks.filter(({ text }) => text.includes(fence))).toHaveLength(1)
  })

  test('keeps the blanks and empty lines at the borders of chunks', async () => {
    const fence = `\`\`\`js\n${lines(60)}\n\`\`\``
    const chunks = await chunksOf([code(fence)])
    expect(chunks.length).toBeGreaterThan(2)
    expect(chunks.map(({ text }) => text).join('')).toBe(fence)
  })
})
