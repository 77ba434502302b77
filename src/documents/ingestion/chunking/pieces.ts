import type { CountTokens } from '../../../gateway/tokens/index.ts'
import type { ExtractedBlock } from '../extraction.ts'
import { maximumBlockCharacters } from '../extractors/extractor.ts'
import { findCut } from '../extractors/txt.ts'

/** A stretch of the extracted text that a chunk takes whole: a block, or a part of a block that is too large to stay whole. */
export interface Piece {
  text: string
  /** Code point range in the extracted text. */
  from: number
  to: number
  tokens: number
  kind: ExtractedBlock['kind']
  page: number | null
  row: number | null
  /** True for headings and table header rows: they belong to what follows and never end a chunk that another one continues. */
  leads: boolean
  /** Headings above it. */
  headingPath: string[]
  /** True where it continues the block of the piece before it, so that no line feed is between the two. */
  continues: boolean
}

export interface TokenBudget {
  countTokens: CountTokens
  /** Most tokens of one part. */
  maximumTokens: number
}

export interface TextPart {
  text: string
  tokens: number
}

/**
 * No text takes fewer tokens than one for this many UTF-16 units, whatever its tokenizer counts: some count a word of a megabyte, or
 * any run of blanks, as one token or none. Bounds the size of chunks. Ordinary text has 1 to 6 units for each token.
 */
export const charactersPerTokenBound = 16

/** The count of a tokenizer, with `charactersPerTokenBound` as its least. */
export function boundCounter(countTokens: CountTokens): CountTokens {
  return (text) => Math.max(countTokens(text), Math.ceil(text.length / charactersPerTokenBound))
}

/**
 * Parts a text so that each part has at most `maximumTokens`: at line ends (code) or sentence ends, then at blanks, then between
 * graphemes, and between code points only where one grapheme is larger than that. The parts put together are the text. Takes time
 * and memory linear in the text.
 */
export function splitText(text: string, kind: ExtractedBlock['kind'], budget: TokenBudget): TextPart[] {
  if (text.length <= budget.maximumTokens * charactersPerTokenBound) {
    const tokens = budget.countTokens(text)
    if (tokens <= budget.maximumTokens) return [{ text, tokens }]
  }
  const parts: TextPart[] = []
  for (const window of windowsOf(text)) parts.push(...pack(window, kind === 'code' ? byLine : bySentence, budget))
  return parts
}

/** Stretches of a long text, each no longer than a block of the streaming extractors: segmenters see no more at once. */
function* windowsOf(text: string): Generator<string> {
  let rest = text
  while (rest.length > maximumBlockCharacters) {
    const lineEnd = rest.lastIndexOf('\n', maximumBlockCharacters - 1) + 1
    const cut = lineEnd > maximumBlockCharacters / 2 ? lineEnd : findCut(rest)
    yield rest.slice(0, cut)
    rest = rest.slice(cut)
  }
  yield rest
}

/** Sentences with the blanks after them; together they are the text. */
export function splitSentences(text: string): string[] {
  return bySentence(text)
}

type Splitter = (text: string) => string[]

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

const byLine: Splitter = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [text]
const bySentence: Splitter = (text) => Array.from(sentences.segment(text), ({ segment }) => segment)
const byWord: Splitter = (text) => text.match(/\S*\s+|\S+$/g) ?? [text]
const byGrapheme: Splitter = (text) => Array.from(graphemes.segment(text), ({ segment }) => segment)
const byCodePoint: Splitter = (text) => Array.from(text)

/** Where to split a piece that is still too large. */
const finer = new Map<Splitter, Splitter>([
  [byLine, bySentence],
  [bySentence, byWord],
  [byWord, byGrapheme],
  [byGrapheme, byCodePoint],
])

/** Splits, splits pieces that are too large again, and joins neighbours as long as they fit. */
function pack(text: string, split: Splitter, budget: TokenBudget): TextPart[] {
  if (split !== byLine && split !== bySentence) return fill(text, split, budget)
  const { countTokens, maximumTokens } = budget
  // Tokens that begin and end every text.
  const markers = countTokens('')
  const packed: TextPart[] = []
  let current = ''
  let currentTokens = markers
  const flush = () => {
    if (current === '') return
    const tokens = countTokens(current)
    // The parts' counts can add up to less than the whole's; then the whole is split finer.
    if (tokens > maximumTokens) packed.push(...pack(current, finer.get(split)!, budget))
    else packed.push({ text: current, tokens })
    current = ''
    currentTokens = markers
  }
  for (const part of split(text)) {
    const tokens = countTokens(part) - markers
    if (markers + tokens > maximumTokens) {
      flush()
      packed.push(...pack(part, finer.get(split)!, budget))
      continue
    }
    if (currentTokens + tokens > maximumTokens) flush()
    current += part
    currentTokens += tokens
  }
  flush()
  return packed
}

/** A part that is this full is not counted again to make it fuller. */
const fullShare = 0.9
/** Counts that one part may take once something is known to fit. */
const maximumCounts = 6

/**
 * Fills parts with as many segments as fit. Small segments are not counted one by one, since their sum is far above the count of
 * the whole: the length that fits is estimated from the last count, and counted.
 */
function fill(text: string, split: Splitter, budget: TokenBudget): TextPart[] {
  const { countTokens, maximumTokens } = budget
  const next = finer.get(split)
  const segments = split(text)
  let end = 0
  const ends = segments.map((segment) => (end += segment.length))
  const parts: TextPart[] = []
  let unitsPerToken = 3
  for (let first = 0, from = 0; first < segments.length;) {
    /** One past the last segment of the longest known to fit and of the shortest known not to. */
    let fitting = first
    let tooLong = segments.length + 1
    let tokens = 0
    let guess = from + unitsPerToken * maximumTokens
    for (let counts = 0; fitting + 1 < tooLong && (counts < maximumCounts || fitting === first); counts++) {
      const to = Math.min(Math.max(indexAfter(ends, guess), fitting + 1), tooLong - 1)
      const length = ends[to - 1]! - from
      const counted = countTokens(text.slice(from, from + length))
      if (counted <= maximumTokens) {
        fitting = to
        tokens = counted
        unitsPerToken = length / Math.max(1, counted)
        if (counted >= maximumTokens * fullShare) break
      } else tooLong = to
      // A count of nothing (blanks) must not stop the growth.
      guess = from + length * Math.min(16, (maximumTokens / Math.max(1, counted)) * 0.97)
    }
    if (fitting === first && next) {
      parts.push(...pack(segments[first]!, next, budget))
      fitting = first + 1
    } else if (fitting === first) {
      fitting = first + 1
      parts.push({ text: segments[first]!, tokens: countTokens(segments[first]!) })
    } else parts.push({ text: text.slice(from, ends[fitting - 1]), tokens })
    first = fitting
    from = ends[fitting - 1]!
  }
  return parts
}

/** How many of the ascending values are at most `limit`. */
function indexAfter(ends: readonly number[], limit: number): number {
  let low = 0
  let high = ends.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ends[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low
}

/** Number of Unicode code points. */
export function countCodePoints(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code < 0xdc00 || code > 0xdfff) count += 1
  }
  return count
}

/** A text of at most `length` code points. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  const characters = Array.from(text.slice(0, length * 2 + 2))
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`
}
