import type { Chunk } from '../extraction.ts'
import type { ChunkingOptions } from './chunk-sizes.ts'
import { countCodePoints, splitSentences, splitText, type Piece } from './pieces.ts'
import type { TableHead } from './table-head.ts'

interface FinishedDraft {
  /** Null where the draft holds only repeated text. */
  chunk: Omit<Chunk, 'index'> | null
  /** Pieces that begin the next chunk: what did not fit, headings that would be at the end, the overlap. */
  carried: Piece[]
  /** How many of the first carried pieces only repeat. */
  repeated: number
}

/** A chunk that is being filled. */
export class ChunkDraft {
  tableHead: TableHead | null
  isTable: boolean
  /** Sum over its pieces, without the table header. */
  tokens = 0
  private readonly options: ChunkingOptions
  private readonly pieces: Piece[] = []
  /** How many of the first pieces repeat the end of the chunk before. */
  private repeated = 0

  /** A draft that continues the table of `former` where one is given. */
  constructor(
    options: ChunkingOptions,
    former: Pick<ChunkDraft, 'tableHead' | 'isTable'> = { tableHead: null, isTable: false },
  ) {
    this.options = options
    this.tableHead = former.tableHead
    this.isTable = former.isTable
  }

  /** True when it holds more than headings, a table's header row and repeated text. */
  get hasContent(): boolean {
    return this.pieces.slice(this.repeated).some((piece) => !piece.leads)
  }

  becomeTable(head: TableHead | null) {
    this.isTable = true
    this.tableHead = head
  }

  /** Most tokens of a piece that is to be placed here. */
  pieceTokens(wholeParagraphShare: number, kind: Piece['kind']): number {
    const { maximumTokens, targetTokens } = this.options
    // The margin covers counts that grow when texts are joined.
    const headTokens = this.tableHead?.tokens ?? 0
    const room = Math.max(4, Math.floor((maximumTokens - headTokens) * 0.95) - 2)
    const target = Math.max(4, targetTokens - headTokens)
    return kind === 'table_row' || kind === 'heading' || kind === 'code'
      ? room
      : Math.min(room, Math.ceil(target * wholeParagraphShare))
  }

  hasRoomFor(piece: Piece): boolean {
    const { maximumTokens, targetTokens } = this.options
    if (this.pieces.length === 0) return true
    const joined = this.tokens + (this.tableHead?.tokens ?? 0) + piece.tokens
    // Headings stay with the text below them, even where that exceeds the target.
    const onlyLeading = this.repeated === 0 && !this.hasContent
    return joined <= targetTokens || (onlyLeading && joined <= maximumTokens * 0.95 - 2)
  }

  add(piece: Piece) {
    this.pieces.push(piece)
    this.tokens += piece.tokens
  }

  /** Marks the first pieces as a repetition of the end of the chunk before. */
  markRepeated(pieces: number) {
    this.repeated = pieces
  }

  /** Builds the chunk. With `carry`, headings at the end and the overlap go to the next chunk. */
  finish(carry: boolean): FinishedDraft {
    const { countTokens, overlapTokens } = this.options
    if (this.pieces.length <= this.repeated) return { chunk: null, carried: [], repeated: 0 }
    const { kept, left, body } = this.fit()
    const { text, from, to, tokens } = carry && giveBackLeading(kept, left) ? this.bodyOf(kept) : body
    const overlap = carry && left.length === 0 && !this.isTable ? overlapOf(kept, overlapTokens, countTokens) : []
    if (text === '') return { chunk: null, carried: left, repeated: 0 }
    const pages = kept.flatMap(({ page }) => (page === null ? [] : [page]))
    const rows = kept.flatMap(({ row }) => (row === null ? [] : [row]))
    return {
      chunk: {
        text,
        headingPath: kept[0]!.headingPath,
        tableHeader: this.headerOf(kept),
        tokens,
        pageFrom: pages.length > 0 ? Math.min(...pages) : null,
        pageTo: pages.length > 0 ? Math.max(...pages) : null,
        pageStarts: pageStartsOf(kept),
        characterFrom: from,
        characterTo: to,
        rowFrom: rows[0] ?? null,
        rowTo: rows.at(-1) ?? null,
      },
      carried: [...overlap, ...left],
      repeated: overlap.length,
    }
  }

  /** Takes pieces off the end until the whole fits; the sums of `tokens` are estimates, this count is exact. */
  private fit(): { kept: Piece[]; left: Piece[]; body: Body } {
    const { countTokens, maximumTokens } = this.options
    const whole = this.bodyOf(this.pieces)
    if (whole.tokens <= maximumTokens) return { kept: [...this.pieces], left: [], body: whole }
    let low = 1
    let high = this.pieces.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.bodyOf(this.pieces.slice(0, middle)).tokens <= maximumTokens) low = middle
      else high = middle - 1
    }
    let kept = this.pieces.slice(0, low)
    const left = this.pieces.slice(low)
    let body = this.bodyOf(kept)
    while (body.tokens > maximumTokens) {
      const parts = halve(kept[0]!, countTokens)
      if (parts.length === 1) break
      kept = parts.slice(0, 1)
      left.unshift(...parts.slice(1))
      body = this.bodyOf(kept)
    }
    return { kept, left, body }
  }

  /** The header to show above the pieces; null also where the header row itself is in the text. */
  private headerOf(kept: Piece[]): string | null {
    const hasRows = kept.some(({ kind, leads }) => kind === 'table_row' && !leads)
    const hasHeader = kept.some(({ kind, leads }) => kind === 'table_row' && leads)
    return hasRows && !hasHeader && this.tableHead ? this.tableHead.shown : null
  }

  private bodyOf(kept: Piece[]): Body {
    const body = textOf(kept)
    const above = this.headerOf(kept)
    return { ...body, tokens: this.options.countTokens(above === null ? body.text : `${above}\n${body.text}`) }
  }
}

/** The text of a chunk and its range, with the tokens that it takes below the header of its table. */
interface Body {
  text: string
  from: number
  to: number
  tokens: number
}

/** False where no heading is at the end. */
function giveBackLeading(kept: Piece[], left: Piece[]): boolean {
  const contentEnd = kept.findLastIndex((piece) => !piece.leads)
  if (contentEnd < 0 || contentEnd === kept.length - 1) return false
  left.unshift(...kept.splice(contentEnd + 1))
  return true
}

/** The text of pieces that follow one another, and its exact range. Code keeps its blanks; other text ends with its last word. */
function textOf(pieces: Piece[]): { text: string; from: number; to: number } {
  let all = ''
  for (const piece of pieces) all += (all === '' || piece.continues ? '' : '\n') + piece.text
  const text = pieces.at(-1)!.kind === 'code' && all.trim() !== '' ? all : all.trimEnd()
  const { from } = pieces[0]!
  return { text, from, to: from + countCodePoints(text) }
}

/** Where each page after the first one begins. A page without text begins where the next one does. */
function pageStartsOf(pieces: readonly Piece[]): number[] {
  const starts: number[] = []
  let last = pieces.find(({ page }) => page !== null)?.page ?? 0
  for (const { page, from } of pieces) {
    if (page === null) continue
    for (; last < page; last++) starts.push(from)
  }
  return starts
}

/** The last sentences of a chunk that fit into the overlap. Rows and code are not repeated: a part of them has no meaning alone. */
function overlapOf(pieces: Piece[], overlapTokens: number, countTokens: (text: string) => number): Piece[] {
  const overlap: Piece[] = []
  let room = overlapTokens
  for (const piece of pieces.toReversed()) {
    if (piece.kind === 'table_row' || piece.kind === 'code' || piece.kind === 'heading' || room <= 0) break
    if (piece.tokens <= room) {
      overlap.unshift(piece)
      room -= piece.tokens
      continue
    }
    const tail = tailOf(piece, room, countTokens)
    if (tail) overlap.unshift(tail)
    break
  }
  // Repeating the whole chunk would never end.
  return overlap.length >= pieces.length ? [] : overlap
}

function tailOf(piece: Piece, room: number, countTokens: (text: string) => number): Piece | null {
  let text = ''
  let tokens = 0
  for (const sentence of splitSentences(piece.text).toReversed()) {
    const next = countTokens(sentence + text)
    if (next > room) break
    text = sentence + text
    tokens = next
  }
  if (text === '' || text === piece.text) return null
  return { ...piece, text, tokens, from: piece.to - countCodePoints(text), continues: true }
}

/** Two parts of a piece that turned out too large after all; one where it is a single code point. */
function halve(piece: Piece, countTokens: (text: string) => number): Piece[] {
  const maximumTokens = Math.max(1, Math.floor(countTokens(piece.text) / 2))
  let from = piece.from
  return splitText(piece.text, piece.kind, { countTokens, maximumTokens }).map(({ text, tokens }, index) => {
    const to = from + countCodePoints(text)
    const part = { ...piece, text, tokens, from, to, continues: index > 0 || piece.continues }
    from = to
    return part
  })
}
