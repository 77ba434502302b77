import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chunkBlocks, type ExtractedBlock } from '../../../documents/ingestion/index.ts'
import { createDocumentId, type DocumentId } from '../../../platform/kernel/index.ts'
import type { Passage } from '../../../documents/retrieval/index.ts'
import { tableRowText } from '../../../documents/ingestion/extractors/table-row.ts'
import { formatSource, type GivenPassage } from './prompt.ts'
import { createPassageSet } from './context-window.ts'

const countTokens = (text: string) => (text.match(/[\p{L}\p{N}]{1,4}|[^\s\p{L}\p{N}]/gu)?.length ?? 0) + 2
const sizes = { countTokens, targetTokens: 60, maximumTokens: 80, overlapTokens: 15 }

/** Blocks as passages, chunked as ingestion chunks them. */
async function passagesOf(blocks: ExtractedBlock[], documentName = 'file.txt'): Promise<Passage[]> {
  async function* batches() {
    yield blocks
  }
  const documentId = createDocumentId()
  const chunks = await Array.fromAsync(chunkBlocks(batches(), sizes))
  return chunks.map(({ index, tokens: _tokens, ...chunk }) => ({
    ...chunk,
    chunkId: `${documentId} ${index}`,
    documentId,
    documentName,
    url: null,
    chunkIndex: index,
    pageStarts: chunk.pageStarts ?? null,
    score: 0,
  }))
}

function join(chunks: readonly Passage[]): GivenPassage[] {
  const set = createPassageSet()
  for (const chunk of chunks) {
    const planned = set.plan(chunk)
    if (planned) set.add(planned)
  }
  return set.passages()
}

const extractedText = (blocks: readonly ExtractedBlock[]) => blocks.map(({ text }) => text).join('\n')
const squash = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
const sentences = (count: number, word: string) =>
  Array.from({ length: count }, (_, n) => `Sentence ${n} of the ${word} says ${n * 7}.`).join(' ')
const paragraph = (text: string): ExtractedBlock => ({ kind: 'paragraph', text })
const rows = (count: number, header = ['Name', 'Price', 'Colour']): ExtractedBlock[] => [
  { kind: 'table_row', text: tableRowText(header), header },
  ...Array.from({ length: count }, (_, n) => ({
    kind: 'table_row' as const,
    text: tableRowText([`lamp ${n}`, `${n} euros`, `shade ${n}`]),
    header,
    row: n + 1,
  })),
]

const blocksArbitrary = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('paragraph' as const), text: fc.lorem({ mode: 'sentences', maxCount: 14 }) }),
    fc.record({
      kind: fc.constantFrom('paragraph', 'list_item', 'code' as const),
      text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 }),
    }),
    fc.integer({ min: 1, max: 400 }).map((n) => paragraph('漢字かな交じり文。👩‍👩‍👧 '.repeat(n).slice(0, n * 3))),
    fc.record({
      kind: fc.constant('heading' as const),
      text: fc.lorem({ maxCount: 4 }),
      level: fc.integer({ min: 1, max: 3 }),
    }),
  ),
  { minLength: 1, maxLength: 12 },
)

describe('passages of a prompt', () => {
  test('are exact stretches of their documents, with no text twice, for any choice and order of chunks', async () => {
    await fc.assert(
      fc.asyncProperty(blocksArbitrary, fc.array(fc.nat(), { maxLength: 40 }), async (blocks, picks) => {
        const all = await passagesOf(blocks)
        if (all.length === 0) return
        const text = Array.from(extractedText(blocks))
        const chosen = [...new Set(picks.map((pick) => all[pick % all.length]!))]
        const given = join(chosen)
        const seen = new Set<number>()
        for (const passage of given) {
          const first = passage.parts[0]!
          const from = first.chunk.characterFrom + Array.from(first.chunk.text.slice(0, first.skippedUnits)).length
          const to = passage.parts.at(-1)!.chunk.characterTo
          expect(squash(passage.text)).toBe(squash(text.slice(from, to).join('')))
          expect(Array.from(passage.text)).toHaveLength(to - from)
          for (let at = from; at < to; at++) {
            expect(seen.has(at)).toBe(false)
            seen.add(at)
          }
          for (const { chunk, at, skippedUnits } of passage.parts) {
            const own = chunk.text.slice(skippedUnits)
            expect(passage.text.slice(at, at + own.length)).toBe(own)
          }
        }
        // All that was chosen is there, except repeats of a text.
        const texts = new Set(chosen.map((chunk) => squash(chunk.text)))
        const shown = given.flatMap(({ parts }) => parts.map(({ chunk }) => squash(chunk.text)))
        expect(new Set(shown).size).toBe(shown.length)
        for (const one of texts) {
          const whole = squash(given.map((passage) => passage.text).join('\n'))
          expect(shown.includes(one) || whole.includes(one)).toBe(true)
        }
      }),
      { numRuns: 150 },
    )
  })

  test('join neighbours whatever their order, up to four of the usual size', async () => {
    const all = await passagesOf([paragraph(sentences(40, 'house'))])
    expect(all.length).toBeGreaterThan(5)
    const [first, second, third] = all
    for (const order of [
      [first!, second!, third!],
      [third!, first!, second!],
      [second!, third!, first!],
    ]) {
      const given = join(order)
      expect(given).toHaveLength(1)
      expect(given[0]!.parts.map(({ chunk }) => chunk.chunkIndex)).toEqual([0, 1, 2])
    }
    expect(join([first!, third!])).toHaveLength(2)
    const long = (text: string, at: number): Passage => ({
      ...first!,
      text,
      chunkIndex: at,
      characterFrom: at * (text.length + 1),
      characterTo: at * (text.length + 1) + text.length,
    })
    const words = 'bright lamp of a house '.repeat(70).trim()
    const sized = join(
      Array.from({ length: 10 }, (_, at) => ({ ...long(words, at), text: `${words.slice(0, -1)}${at}` })),
    )
    expect(sized.map(({ parts }) => parts.length)).toEqual([4, 4, 2])
  })

  test('show the header of a table once, above joined rows and in their first chunk', async () => {
    const all = await passagesOf([paragraph('Prices of lamps.'), ...rows(60), paragraph('End of the list.')])
    expect(all.length).toBeGreaterThan(3)
    for (const chunks of [all, all.slice(1), all.slice(1, 3), all.toReversed(), [all[2]!]]) {
      for (const passage of join(chunks)) {
        const lines = formatSource(passage, 1).split('\n')
        expect(lines.filter((line) => line === tableRowText(['Name', 'Price', 'Colour']))).toHaveLength(1)
      }
    }
    const [joined] = join(all.slice(1, 3))
    expect(joined).toMatchObject({ rowFrom: all[1]!.rowFrom, rowTo: all[2]!.rowTo })
  })

  test('keep rows apart from text that does not have their header', async () => {
    const [first, second] = await passagesOf([paragraph(sentences(20, 'house'))])
    const row = { ...second!, tableHeader: 'Name | Price' }
    expect(join([first!, row])).toHaveLength(2)
  })

  test('keep a long code fence in one passage, byte for byte', async () => {
    const fence = ['```js', ...Array.from({ length: 400 }, (_, n) => `  if (list[${n}]) run([[${n}]])`), '```'].join(
      '\n',
    )
    const all = await passagesOf([paragraph(sentences(30, 'house')), { kind: 'code', text: fence.slice(0, 5_000) }])
    const given = join(all)
    expect(given.filter((passage) => formatSource(passage, 1).includes(fence.slice(0, 5_000)))).toHaveLength(1)
  })

  test('leave out the text of another document, and do not join documents', async () => {
    const here = await passagesOf([paragraph(sentences(30, 'house'))])
    const copy = await passagesOf([paragraph(sentences(30, 'house'))], 'copy.txt')
    const given = join([here[0]!, copy[0]!, copy[1]!])
    expect(given.map(({ documentName }) => documentName)).toEqual(['file.txt', 'copy.txt'])
    expect(given.flatMap(({ parts }) => parts.map(({ chunk }) => chunk.chunkIndex))).toEqual([0, 1])
  })

  test('never join results of tools and columns of wide tables', async () => {
    const [first, second] = await passagesOf([paragraph(sentences(20, 'house'))])
    const columns = { ...second!, text: second!.text.slice(5) }
    expect(join([first!, columns])).toHaveLength(2)
    const computed = { ...second!, chunkIndex: -1, documentId: createDocumentId() as DocumentId }
    expect(join([{ ...first!, documentId: computed.documentId }, computed])).toHaveLength(2)
  })
})
