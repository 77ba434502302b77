import type { ChunkingOptions } from './chunk-sizes.ts'
import type { Chunk, ExtractedBlock } from '../extraction.ts'
import { ChunkDraft } from './chunk-draft.ts'
import { columnChunks, type TableBand } from './column-chunks.ts'
import { boundCounter, countCodePoints, shortened, splitText, type Piece } from './pieces.ts'
import { areEqual, createTableHeads } from './table-head.ts'
import { createWideTables, isRowBlock, type RowBlock } from './wide-tables.ts'

/** A section shorter than this share of the target shares its chunk with the section that follows. */
const minimumSectionShare = 0.3
/** Text before a table stays with its first rows when it is shorter than this share of the target: a caption, an introduction. */
const captionShare = 0.25
/** Longer headings are paragraphs that were styled as headings. */
const maximumPathCharacters = 160
/** A paragraph larger than this share of the target may be split between sentences to fill chunks evenly. */
const wholeParagraphShare = 0.5

/**
 * Splits blocks into chunks along their structure: headings begin chunks, tables are separate with their header, paragraphs stay
 * whole where they fit, sentences always where they fit. A chunk's text is exactly `characterFrom..characterTo` of the
 * extracted text, which is all blocks joined by a line feed, and everything is in some chunk. A table's header row is text of the
 * first chunk of its rows; the later ones have it in `tableHeader`.
 * The rows of wide tables are also in chunks of some columns each, whose range is that of their rows.
 */
export async function* chunkBlocks(
  blocks: AsyncIterable<ExtractedBlock[]>,
  options: ChunkingOptions,
): AsyncGenerator<Chunk> {
  assertOptions(options)
  const chunker = new Chunker({ ...options, countTokens: boundCounter(options.countTokens) })
  for await (const batch of blocks) {
    for (const block of batch) yield* chunker.add(block)
  }
  yield* chunker.end()
}

/** Fills one draft after the other with blocks. */
class Chunker {
  private readonly options: ChunkingOptions
  private readonly heads: ReturnType<typeof createTableHeads>
  private readonly wideTables: ReturnType<typeof createWideTables>
  /** Header of the table whose rows arrive; null outside tables. */
  private tableHeader: readonly string[] | null = null
  private readonly headings: { level: number; text: string }[] = []
  private headingPath: string[] = []
  /** Code points of all blocks before the next one, joined by line feeds. */
  private position = 0
  private index = 0
  private draft: ChunkDraft

  constructor(options: ChunkingOptions) {
    this.options = options
    this.heads = createTableHeads(options)
    this.wideTables = createWideTables(options)
    this.draft = new ChunkDraft(options)
  }

  add(block: ExtractedBlock): Iterable<Chunk> {
    const from = this.position
    this.position += countCodePoints(block.text) + 1
    return isRowBlock(block) ? this.addRow(block, from, this.position - 1) : this.addOther(block, from)
  }

  *end(): Generator<Chunk> {
    yield* this.endTable()
    yield* this.flushWhole()
  }

  private *addRow(block: RowBlock, from: number, to: number): Generator<Chunk> {
    if (this.tableHeader !== null && !areEqual(this.tableHeader, block.header)) yield* this.endTable()
    this.tableHeader = block.header
    yield* this.addBlock(block, from)
    yield* this.addColumns(this.wideTables.add(block, from, to))
  }

  private *addOther(block: ExtractedBlock, from: number): Generator<Chunk> {
    if (this.tableHeader !== null) yield* this.endTable()
    this.tableHeader = null
    yield* block.kind === 'heading' ? this.addHeading(block, from) : this.addBlock(block, from)
  }

  private *addHeading(block: ExtractedBlock, from: number): Generator<Chunk> {
    const { draft, headings } = this
    const level = block.level ?? 1
    if (draft.isTable || (draft.hasContent && draft.tokens >= this.options.targetTokens * minimumSectionShare))
      yield* this.flushWhole()
    while (headings.length > 0 && headings.at(-1)!.level >= level) headings.pop()
    this.headingPath = headings.map((heading) => heading.text)
    yield* this.addBlock(block, from)
    headings.push({ level, text: shortened(block.text, maximumPathCharacters) })
    this.headingPath = headings.map((heading) => heading.text)
  }

  private *addBlock(block: ExtractedBlock, from: number): Generator<Chunk> {
    const { countTokens, targetTokens } = this.options
    const head = block.kind === 'table_row' && block.header ? this.heads.headOf(block.header) : null
    const isTable = block.kind === 'table_row'
    const isHeader = head !== null && block.row === undefined
    const { draft } = this
    // Two tables under equal headers are still two tables.
    if (isTable !== draft.isTable || head !== draft.tableHead || (isHeader && draft.isTable)) {
      const isCaption = isTable && !draft.isTable && draft.tokens < targetTokens * captionShare
      if (!isCaption) yield* this.flushWhole()
      if (isTable) this.draft.becomeTable(head)
    }
    const maximumTokens = this.draft.pieceTokens(wholeParagraphShare, block.kind)
    let at = from
    const parts = splitText(block.text, block.kind, { countTokens, maximumTokens })
    // A header in several parts cannot be the first row; the rows get what fits of it as `tableHeader`.
    const leads = block.kind === 'heading' || (isHeader && parts.length === 1)
    const { headingPath } = this
    for (const [part, { text, tokens }] of parts.entries()) {
      const to = at + countCodePoints(text)
      const { kind, page = null, row = null } = block
      yield* this.place({ text, tokens, from: at, to, kind, page, row, leads, headingPath, continues: part > 0 })
      at = to
    }
  }

  /** The columns of a wide table follow the chunks of its last whole rows. */
  private *endTable(): Generator<Chunk> {
    const band = this.wideTables.end()
    if (band === null) return
    yield* this.flushWhole()
    yield* this.addColumns(band)
  }

  private *addColumns(band: Omit<TableBand, 'headingPath'> | null): Generator<Chunk> {
    if (band === null) return
    for (const chunk of columnChunks({ ...band, headingPath: this.headingPath }, this.options))
      yield { ...chunk, index: this.index++ }
  }

  private place(piece: Piece): Chunk[] {
    const chunks: Chunk[] = []
    // Each round emits a chunk or drops an overlap that leaves no room; an empty draft has room for any piece.
    while (!this.draft.hasRoomFor(piece)) chunks.push(...this.flushFull())
    this.draft.add(piece)
    return chunks
  }

  /** Ends the chunk for its size: the next one continues the same text or table. */
  private flushFull(): Chunk[] {
    const { chunk, carried, repeated } = this.draft.finish(true)
    this.draft = new ChunkDraft(this.options, this.draft)
    const chunks = chunk ? [{ ...chunk, index: this.index++ }] : []
    for (const piece of carried) chunks.push(...this.place(piece))
    this.draft.markRepeated(repeated)
    return chunks
  }

  /** Ends the chunk because the structure ends: nothing is carried into the next one. */
  private flushWhole(): Chunk[] {
    const chunks: Chunk[] = []
    for (;;) {
      const { chunk, carried } = this.draft.finish(false)
      if (chunk) chunks.push({ ...chunk, index: this.index++ })
      if (carried.length === 0) break
      this.draft = new ChunkDraft(this.options, this.draft)
      for (const piece of carried) this.draft.add(piece)
    }
    this.draft = new ChunkDraft(this.options)
    return chunks
  }
}

function assertOptions({ targetTokens, maximumTokens, overlapTokens }: ChunkingOptions) {
  if (targetTokens < 8 || targetTokens > maximumTokens || overlapTokens < 0 || overlapTokens * 2 > targetTokens)
    throw new RangeError('chunking needs 8 <= targetTokens <= maximumTokens and 0 <= overlapTokens <= targetTokens / 2')
}
