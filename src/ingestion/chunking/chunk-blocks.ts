import type { CountTokens } from '../../tokens/index.ts'
import type { Chunk, ExtractedBlock } from '../extraction.ts'
import { createChunkDraft, type ChunkDraft } from './chunk-draft.ts'
import { columnChunks, type TableBand } from './column-chunks.ts'
import { boundCounter, countCodePoints, shortened, splitText, type Piece } from './pieces.ts'
import { areEqual, createTableHeads } from './table-head.ts'
import { createWideTables, isRowBlock, type RowBlock } from './wide-tables.ts'

export interface ChunkingOptions {
  /** The embedder's own count. */
  countTokens: CountTokens
  /** What a chunk is filled up to, unless its structure ends it earlier. */
  targetTokens: number
  /** No chunk holds more, its table header included. */
  maximumTokens: number
  /** How much of a chunk's end is repeated at the begin of the next one, where a size limit and not the structure parted them. */
  overlapTokens: number
}

/** A section shorter than this share of the target shares its chunk with the section that follows. */
const minimumSectionShare = 0.3
/** Text before a table stays with its first rows when it is shorter than this share of the target: a caption, an introduction. */
const captionShare = 0.25
/** Longer headings are paragraphs that were styled as headings. */
const maximumPathCharacters = 160
/** A paragraph larger than this share of the target may be parted between sentences to fill chunks evenly. */
const wholeParagraphShare = 0.5

/**
 * Parts blocks into chunks along their structure: headings begin chunks, tables stand alone with their header, paragraphs stay
 * whole where they fit, sentences always where they fit. A chunk's text is exactly `characterFrom..characterTo` of the
 * extracted text, which is all blocks joined by a line feed, and everything is in some chunk. A table's header row is text of the
 * first chunk of its rows; on the later ones it stands in `tableHeader`.
 * The rows of wide tables are also in chunks of some columns each, whose range is that of their rows.
 */
export async function* chunkBlocks(
  blocks: AsyncIterable<ExtractedBlock[]>,
  options: ChunkingOptions,
): AsyncGenerator<Chunk> {
  assertOptions(options)
  const chunker = createChunker({ ...options, countTokens: boundCounter(options.countTokens) })
  for await (const batch of blocks) {
    for (const block of batch) yield* chunker.add(block)
  }
  yield* chunker.end()
}

interface Chunker {
  add(block: ExtractedBlock): Iterable<Chunk>
  end(): Iterable<Chunk>
}

function createChunker(options: ChunkingOptions): Chunker {
  const { targetTokens } = options
  const heads = createTableHeads(options)
  const wideTables = createWideTables(options)
  let tableHeader: readonly string[] | null = null
  const headings: { level: number; text: string }[] = []
  let position = 0
  let index = 0
  let draft: ChunkDraft = createChunkDraft(options)
  let headingPath: string[] = []
  /** Ends the chunk for its size: the next one goes on in the same text or table. */
  function flushFull(): Chunk[] {
    const { chunk, carried, repeated } = draft.finish(true)
    draft = createChunkDraft(options, draft)
    const chunks = chunk ? [{ ...chunk, index: index++ }] : []
    for (const piece of carried) chunks.push(...place(piece))
    draft.markRepeated(repeated)
    return chunks
  }

  /** Ends the chunk because the structure ends; the next one starts afresh. */
  function flushWhole(): Chunk[] {
    const chunks: Chunk[] = []
    for (;;) {
      const { chunk, carried } = draft.finish(false)
      if (chunk) chunks.push({ ...chunk, index: index++ })
      if (carried.length === 0) break
      draft = createChunkDraft(options, draft)
      for (const piece of carried) draft.add(piece)
    }
    draft = createChunkDraft(options)
    return chunks
  }

  function place(piece: Piece): Chunk[] {
    const chunks: Chunk[] = []
    // Each round emits a chunk or gives up an overlap that leaves no room; an empty draft takes any piece.
    while (!draft.hasRoomFor(piece)) chunks.push(...flushFull())
    draft.add(piece)
    return chunks
  }

  function* addBlock(block: ExtractedBlock, from: number): Generator<Chunk> {
    const head = block.kind === 'table_row' && block.header ? heads.headOf(block.header) : null
    const isTable = block.kind === 'table_row'
    const isHeader = head !== null && block.row === undefined
    // Two tables under headers of the same words are still two tables.
    if (isTable !== draft.isTable || head !== draft.tableHead || (isHeader && draft.isTable)) {
      const isCaption = isTable && !draft.isTable && draft.tokens < targetTokens * captionShare
      if (!isCaption) yield* flushWhole()
      if (isTable) draft.becomeTable(head)
    }
    const budget = {
      countTokens: options.countTokens,
      maximumTokens: draft.pieceTokens(wholeParagraphShare, block.kind),
    }
    let at = from
    const parts = splitText(block.text, block.kind, budget)
    // A header in several parts cannot stand above its rows; they get what fits of it as `tableHeader`.
    const leads = block.kind === 'heading' || (isHeader && parts.length === 1)
    for (const [part, { text, tokens }] of parts.entries()) {
      const to = at + countCodePoints(text)
      const { kind, page = null, row = null } = block
      yield* place({ text, tokens, from: at, to, kind, page, row, leads, headingPath, continues: part > 0 })
      at = to
    }
  }

  function* addHeading(block: ExtractedBlock, from: number): Generator<Chunk> {
    const level = block.level ?? 1
    if (draft.isTable || (draft.hasContent && draft.tokens >= targetTokens * minimumSectionShare)) yield* flushWhole()
    while (headings.length > 0 && headings.at(-1)!.level >= level) headings.pop()
    headingPath = headings.map((heading) => heading.text)
    yield* addBlock(block, from)
    headings.push({ level, text: shortened(block.text, maximumPathCharacters) })
    headingPath = headings.map((heading) => heading.text)
  }

  function* addColumns(band: Omit<TableBand, 'headingPath'> | null): Generator<Chunk> {
    if (band === null) return
    for (const chunk of columnChunks({ ...band, headingPath }, options)) yield { ...chunk, index: index++ }
  }

  /** The columns of a wide table follow the chunks of its last whole rows. */
  function* endTable(): Generator<Chunk> {
    const band = wideTables.end()
    if (band === null) return
    yield* flushWhole()
    yield* addColumns(band)
  }

  function* addRow(block: RowBlock, from: number, to: number): Generator<Chunk> {
    if (tableHeader !== null && !areEqual(tableHeader, block.header)) yield* endTable()
    tableHeader = block.header
    yield* addBlock(block, from)
    yield* addColumns(wideTables.add(block, from, to))
  }

  function* addOther(block: ExtractedBlock, from: number): Generator<Chunk> {
    if (tableHeader !== null) yield* endTable()
    tableHeader = null
    yield* block.kind === 'heading' ? addHeading(block, from) : addBlock(block, from)
  }

  return {
    add(block) {
      const from = position
      position += countCodePoints(block.text) + 1
      return isRowBlock(block) ? addRow(block, from, position - 1) : addOther(block, from)
    },
    *end() {
      yield* endTable()
      yield* flushWhole()
    },
  }
}

function assertOptions({ targetTokens, maximumTokens, overlapTokens }: ChunkingOptions) {
  if (targetTokens < 8 || targetTokens > maximumTokens || overlapTokens < 0 || overlapTokens * 2 > targetTokens)
    throw new RangeError('chunking needs 8 <= targetTokens <= maximumTokens and 0 <= overlapTokens <= targetTokens / 2')
}
