import type { Chunk } from '../extraction.ts'
import type { ChunkingOptions } from './chunk-blocks.ts'
import { countCodePoints, splitSentences, splitText, type Piece } from './pieces.ts'

/** A chunk that is being filled. */
export interface ChunkDraft {
  readonly tableHeader: string | null
  readonly isTable: boolean
  /** Sum over its pieces, without the table header. */
  readonly tokens: number
  /** True when it holds more than headings, a table's header row and repeated text. */
  readonly hasContent: boolean
  becomeTable(header: string | null): void
  /** Most tokens of a piece that is to be placed here. */
  pieceTokens(wholeParagraphShare: number, kind: Piece['kind']): number
  hasRoomFor(piece: Piece): boolean
  add(piece: Piece): void
  /** The first pieces repeat the end of the chunk before. */
  markRepeated(pieces: number): void
  finish(carry: boolean): FinishedDraft
}

interface FinishedDraft {
  /** Null where the draft held nothing of its own. */
  chunk: Omit<Chunk, 'index'> | null
  /** Pieces that begin the next chunk: what did not fit, headings that would stand at the end, the overlap. */
  carried: Piece[]
  /** How many of the first carried ones only repeat. */
  repeated: number
}

/** A header may take at most this share of a chunk; a longer one is cut, or the rows would have no room. */
const maximumHeaderShare = 0.4

/** A new draft, going on with the table of `former` where one is given. */
export function createChunkDraft(
  options: ChunkingOptions,
  former: Pick<ChunkDraft, 'tableHeader' | 'isTable'> = { tableHeader: null, isTable: false },
): ChunkDraft {
  const { countTokens, targetTokens, maximumTokens, overlapTokens } = options
  const pieces: Piece[] = []
  let repeated = 0
  let tokens = 0
  let { tableHeader: header, isTable } = former
  let shownHeader: string | null = null
  let headerTokens = 0
  setHeader(header)

  function setHeader(text: string | null) {
    header = text
    shownHeader = text === null || text.trim() === '' ? null : cutHeader(text, options)
    headerTokens = shownHeader === null ? 0 : countTokens(`${shownHeader}\n`)
  }

  /** Null also where the header row itself is in the text. */
  const headerOf = (kept: Piece[]) => {
    const hasRows = kept.some(({ kind, leads }) => kind === 'table_row' && !leads)
    const hasHeader = kept.some(({ kind, leads }) => kind === 'table_row' && leads)
    return hasRows && !hasHeader ? shownHeader : null
  }
  const bodyTokens = (kept: Piece[]) => {
    const { text } = textOf(kept)
    const above = headerOf(kept)
    return countTokens(above === null ? text : `${above}\n${text}`)
  }

  const hasContent = () => pieces.slice(repeated).some((piece) => !piece.leads)

  /** Takes pieces off the end until the whole fits; the single sums are estimates, this count is the promise. */
  function fit(): { kept: Piece[]; left: Piece[] } {
    const kept = [...pieces]
    const left: Piece[] = []
    while (bodyTokens(kept) > maximumTokens) {
      const last = kept.pop()!
      if (kept.length > 0) {
        left.unshift(last)
        continue
      }
      const halves = halve(last, countTokens)
      if (halves.length === 1) return { kept: halves, left }
      kept.push(halves[0]!)
      left.unshift(...halves.slice(1))
    }
    return { kept, left }
  }

  function giveBackLeading(kept: Piece[], left: Piece[]) {
    const contentEnd = kept.findLastIndex((piece) => !piece.leads)
    if (contentEnd >= 0) left.unshift(...kept.splice(contentEnd + 1))
  }

  return {
    get tableHeader() {
      return header
    },
    get isTable() {
      return isTable
    },
    get tokens() {
      return tokens
    },
    get hasContent() {
      return hasContent()
    },
    becomeTable(text) {
      isTable = true
      setHeader(text)
    },
    pieceTokens(wholeParagraphShare, kind) {
      // The margin covers counts that grow when texts are joined.
      const room = Math.max(4, Math.floor((maximumTokens - headerTokens) * 0.95) - 2)
      const target = Math.max(4, targetTokens - headerTokens)
      return kind === 'table_row' || kind === 'heading' ? room : Math.min(room, Math.ceil(target * wholeParagraphShare))
    },
    hasRoomFor(piece) {
      if (pieces.length === 0) return true
      const joined = tokens + headerTokens + piece.tokens
      // Headings wait for the text below them, even where that goes beyond the target.
      const onlyLeading = repeated === 0 && !hasContent()
      return joined <= targetTokens || (onlyLeading && joined <= maximumTokens * 0.95 - 2)
    },
    add(piece) {
      pieces.push(piece)
      tokens += piece.tokens
    },
    markRepeated(count) {
      repeated = count
    },
    finish(carry) {
      if (pieces.length <= repeated) return { chunk: null, carried: [], repeated: 0 }
      const { kept, left } = fit()
      if (carry) giveBackLeading(kept, left)
      const { text, from, to } = textOf(kept)
      const overlap = carry && left.length === 0 && !isTable ? overlapOf(kept, overlapTokens, countTokens) : []
      if (text === '') return { chunk: null, carried: left, repeated: 0 }
      const pages = kept.flatMap(({ page }) => (page === null ? [] : [page]))
      const rows = kept.flatMap(({ row }) => (row === null ? [] : [row]))
      return {
        chunk: {
          text,
          headingPath: kept[0]!.headingPath,
          tableHeader: headerOf(kept),
          tokens: bodyTokens(kept),
          pageFrom: pages.length > 0 ? Math.min(...pages) : null,
          pageTo: pages.length > 0 ? Math.max(...pages) : null,
          characterFrom: from,
          characterTo: to,
          rowFrom: rows[0] ?? null,
          rowTo: rows.at(-1) ?? null,
        },
        carried: [...overlap, ...left],
        repeated: overlap.length,
      }
    },
  }
}

/** The text of pieces that follow one another, without white space around it, and its exact range. */
function textOf(pieces: Piece[]): { text: string; from: number; to: number } {
  let text = ''
  for (const piece of pieces) text += (text === '' || piece.continues ? '' : '\n') + piece.text
  const start = text.length - text.trimStart().length
  const from = pieces[0]!.from + countCodePoints(text.slice(0, start))
  const trimmed = text.trim()
  return { text: trimmed, from, to: from + countCodePoints(trimmed) }
}

/** The last sentences of a chunk that fit into the overlap. Rows and code are not repeated: half of them says nothing. */
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

/** A table header that leaves room for rows: cut between cells where it is too long, and marked so. */
function cutHeader(header: string, { countTokens, maximumTokens }: ChunkingOptions): string | null {
  const limit = Math.floor(maximumTokens * maximumHeaderShare)
  if (countTokens(`${header}\n`) <= limit) return header
  const cells = header.split(' | ')
  let low = 0
  let high = cells.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (countTokens(`${cells.slice(0, middle).join(' | ')} | …\n`) <= limit) low = middle
    else high = middle - 1
  }
  return low === 0 ? null : `${cells.slice(0, low).join(' | ')} | …`
}
