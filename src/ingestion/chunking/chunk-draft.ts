import type { Chunk } from '../extraction.ts'
import type { ChunkingOptions } from './chunk-blocks.ts'
import { countCodePoints, splitSentences, splitText, type Piece } from './pieces.ts'
import type { TableHead } from './table-head.ts'

/** A chunk that is being filled. */
export interface ChunkDraft {
  readonly tableHead: TableHead | null
  readonly isTable: boolean
  /** Sum over its pieces, without the table header. */
  readonly tokens: number
  /** True when it holds more than headings, a table's header row and repeated text. */
  readonly hasContent: boolean
  becomeTable(head: TableHead | null): void
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

/** A new draft, going on with the table of `former` where one is given. */
export function createChunkDraft(
  options: ChunkingOptions,
  former: Pick<ChunkDraft, 'tableHead' | 'isTable'> = { tableHead: null, isTable: false },
): ChunkDraft {
  const { countTokens, targetTokens, maximumTokens, overlapTokens } = options
  const pieces: Piece[] = []
  let repeated = 0
  let tokens = 0
  let { tableHead: head, isTable } = former

  /** Null also where the header row itself is in the text. */
  const headerOf = (kept: Piece[]) => {
    const hasRows = kept.some(({ kind, leads }) => kind === 'table_row' && !leads)
    const hasHeader = kept.some(({ kind, leads }) => kind === 'table_row' && leads)
    return hasRows && !hasHeader && head ? head.shown : null
  }
  const bodyTokens = (kept: Piece[]) => {
    const { text } = textOf(kept)
    const above = headerOf(kept)
    return countTokens(above === null ? text : `${above}\n${text}`)
  }

  const hasContent = () => pieces.slice(repeated).some((piece) => !piece.leads)

  const fits = (kept: Piece[]) => bodyTokens(kept) <= maximumTokens

  /** Takes pieces off the end until the whole fits; the single sums are estimates, this count is the promise. */
  function fit(): { kept: Piece[]; left: Piece[] } {
    if (fits(pieces)) return { kept: [...pieces], left: [] }
    let low = 1
    let high = pieces.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (fits(pieces.slice(0, middle))) low = middle
      else high = middle - 1
    }
    let kept = pieces.slice(0, low)
    const left = pieces.slice(low)
    while (!fits(kept)) {
      const parts = halve(kept[0]!, countTokens)
      if (parts.length === 1) break
      kept = parts.slice(0, 1)
      left.unshift(...parts.slice(1))
    }
    return { kept, left }
  }

  function giveBackLeading(kept: Piece[], left: Piece[]) {
    const contentEnd = kept.findLastIndex((piece) => !piece.leads)
    if (contentEnd >= 0) left.unshift(...kept.splice(contentEnd + 1))
  }

  return {
    get tableHead() {
      return head
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
    becomeTable(its) {
      isTable = true
      head = its
    },
    pieceTokens(wholeParagraphShare, kind) {
      // The margin covers counts that grow when texts are joined.
      const headTokens = head?.tokens ?? 0
      const room = Math.max(4, Math.floor((maximumTokens - headTokens) * 0.95) - 2)
      const target = Math.max(4, targetTokens - headTokens)
      return kind === 'table_row' || kind === 'heading' ? room : Math.min(room, Math.ceil(target * wholeParagraphShare))
    },
    hasRoomFor(piece) {
      if (pieces.length === 0) return true
      const joined = tokens + (head?.tokens ?? 0) + piece.tokens
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
