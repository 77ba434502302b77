import type { Passage } from '../../../documents/retrieval/index.ts'
import { countCharacters } from '../citations/select-quote.ts'

/** A passage as the prompt shows it. */
export type ShownPassage = Pick<
  Passage,
  | 'documentId'
  | 'documentName'
  | 'url'
  | 'text'
  | 'headingPath'
  | 'tableHeader'
  | 'pageFrom'
  | 'pageTo'
  | 'rowFrom'
  | 'rowTo'
>

/** A passage of the prompt: one chunk, or neighbours of one document as one text. */
export interface GivenPassage extends ShownPassage {
  /** Its chunks in reading order. */
  parts: readonly PassagePart[]
}

export interface PassagePart {
  chunk: Passage
  /** Where its text begins in the text of the passage, UTF-16 units. */
  at: number
  /** Units at the beginning of the chunk that an earlier part already has. */
  skippedUnits: number
}

/** White space between two chunks of one text; a longer gap is lost text. */
const maximumGap = 8

/**
 * Whether `next` continues `chunk` in the extracted text of their document. The rows of a table continue a chunk that has the table's header,
 * above its text or as a line of it, so that a joined passage shows it once.
 */
export function continues(next: Passage, chunk: Passage): boolean {
  return (
    next.documentId === chunk.documentId &&
    next.chunkIndex === chunk.chunkIndex + 1 &&
    isStretch(chunk) &&
    isStretch(next) &&
    next.characterFrom - chunk.characterTo <= maximumGap &&
    (next.tableHeader === null ||
      next.tableHeader === chunk.tableHeader ||
      `\n${chunk.text}\n`.includes(`\n${next.tableHeader}\n`))
  )
}

/** The text is a stretch of the extracted text. Columns of wide tables, and results of tools, are not. */
export function isStretch({ chunkIndex, text, characterFrom, characterTo }: Passage): boolean {
  return chunkIndex >= 0 && countCharacters(text) === characterTo - characterFrom
}

/** Units of `chunk` that the text up to `covered` (code points of the extracted text) already has. */
export function repeatedUnits({ text, characterFrom }: Passage, covered: number): number {
  return unitsOf(text, covered - characterFrom)
}

/** UTF-16 units of the first `characters` code points. */
function unitsOf(text: string, characters: number): number {
  let units = 0
  for (let left = characters; left > 0 && units < text.length; left--)
    units += text.codePointAt(units)! > 0xffff ? 2 : 1
  return units
}

/**
 * One passage of chunks that continue each other. `covered`: the text of the document up to there, in code points, is in the passage
 * before this one.
 */
export function joinChunks(chunks: readonly [Passage, ...Passage[]], covered = 0): GivenPassage {
  let text = ''
  let end = covered
  const parts = chunks.map((chunk, index) => {
    const skippedUnits = repeatedUnits(chunk, end)
    // The extracted text has white space here; how it is made does not matter, its length does.
    if (index > 0) text += '\n'.repeat(Math.max(0, chunk.characterFrom - end))
    const part = { chunk, at: text.length, skippedUnits }
    text += chunk.text.slice(skippedUnits)
    end = Math.max(end, chunk.characterTo)
    return part
  })
  const { documentId, documentName, url, headingPath, tableHeader } = chunks[0]
  const pages = chunks.flatMap(({ pageFrom, pageTo }) => (pageFrom === null ? [] : [pageFrom, pageTo ?? pageFrom]))
  const rows = chunks.flatMap(({ rowFrom, rowTo }) => (rowFrom === null ? [] : [rowFrom, rowTo ?? rowFrom]))
  return {
    documentId,
    documentName,
    url,
    headingPath,
    tableHeader,
    text,
    pageFrom: pages.length === 0 ? null : Math.min(...pages),
    pageTo: pages.length === 0 ? null : Math.max(...pages),
    rowFrom: rows.length === 0 ? null : Math.min(...rows),
    rowTo: rows.length === 0 ? null : Math.max(...rows),
    parts,
  }
}
