import type { ExtractedBlock } from '../extraction.ts'

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
  /** True for headings and table header rows: they belong to what follows and never end a chunk that goes on. */
  leads: boolean
  /** Headings above it. */
  headingPath: string[]
  /** True where it goes on with the block of the piece before it, so that no line feed stands between the two. */
  continues: boolean
}

export interface TokenBudget {
  countTokens(text: string): number
  /** Most tokens of one part. */
  maximumTokens: number
}

export interface TextPart {
  text: string
  tokens: number
}

/**
 * Parts a text so that each part has at most `maximumTokens`: at line ends (code) or sentence ends, then at blanks, then between
 * graphemes, and between code points only where one grapheme is larger than that. The parts put together are the text.
 */
export function splitText(text: string, kind: ExtractedBlock['kind'], budget: TokenBudget): TextPart[] {
  // What has many more characters than tokens are allowed is not worth counting as a whole.
  if (text.length <= budget.maximumTokens * 12) {
    const tokens = budget.countTokens(text)
    if (tokens <= budget.maximumTokens) return [{ text, tokens }]
  }
  return pack(text, kind === 'code' ? byLine : bySentence, budget)
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

/** What parts a piece that is still too large. */
const finer = new Map<Splitter, Splitter>([
  [byLine, bySentence],
  [bySentence, byWord],
  [byWord, byGrapheme],
  [byGrapheme, byCodePoint],
])

/** Splits, splits what is too large further, and joins neighbours again as long as they fit. */
function pack(text: string, split: Splitter, budget: TokenBudget): TextPart[] {
  const { countTokens, maximumTokens } = budget
  const next = finer.get(split)
  const countsAreRough = split === byWord || split === byGrapheme || split === byCodePoint
  const packed: TextPart[] = []
  let current = ''
  let currentTokens = 0
  const flush = () => {
    if (current === '') return
    const tokens = countTokens(current)
    // The parts' counts can add up to less than the whole's; then the whole is split finer.
    if (tokens > maximumTokens && next) packed.push(...pack(current, next, budget))
    else packed.push({ text: current, tokens })
    current = ''
    currentTokens = 0
  }
  for (const part of split(text)) {
    const tokens = countTokens(part)
    if (tokens > maximumTokens && next) {
      flush()
      packed.push(...pack(part, next, budget))
      continue
    }
    let joined = currentTokens + tokens
    // Small parts each count the tokens that begin and end a text, so that their sum is far above the count of the whole.
    if (joined > maximumTokens && current !== '' && countsAreRough) joined = countTokens(current + part)
    if (joined > maximumTokens) {
      flush()
      joined = tokens
    }
    current += part
    currentTokens = joined
  }
  flush()
  return packed
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
