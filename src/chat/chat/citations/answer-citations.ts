import { setImmediate as nextTurn } from 'node:timers/promises'
import { createTimeSlices } from '../../../platform/kernel/index.ts'
import { type EvidenceText, prepareSupport } from '../../../platform/evidence/index.ts'
import { type Citation, type CitedSource, createCitationRewriter } from './citation-rewriter.ts'
import { type CitationCounts, createCitationCheck } from './citation-check.ts'

/** A passage that the model received: where it is from, and its text. */
export type CitablePassage = EvidenceText & { source: CitedSource }

/** The text of one answer on its way to the reader, with checked markers. */
export interface AnswerCitations {
  /** Passages that the model received, in the order of their numbers. */
  addPassages(added: readonly CitablePassage[]): void
  /** Forgets all passages but the first ones: the model has not received the others after all. Add none afterwards. */
  keepPassages(count: number): void
  /** A text without a number that the model received, such as a computed sum: its figures need no passage. */
  addResult(text: string): void
  /** A text of another service that the model received: what it states needs more than a passage that does not contradict it. */
  addForeign(text: string): void
  /** Begins to read new passages, in short turns of the event loop, while the model is not writing yet. */
  startReading(signal: AbortSignal): void
  /** Returns the decided text in pieces; the event loop gets a turn between them. */
  push(text: string, signal: AbortSignal): AsyncGenerator<string, void, void>
  /** Returns the text that was held back. */
  end(): string
  cited(): Citation[]
  counts(): CitationCounts
  /** Comparisons of a statement with a text so far. */
  comparisons(): number
}

/**
 * UTF-16 units that are checked before the event loop gets a turn, and comparisons of statements with passages: every word may have a marker,
 * and the search for a better passage compares up to 200. Where passages are long and sentences deny much, their time ends a turn before.
 */
export const unitsPerTurn = 2_000
export const comparisonsPerTurn = 1_000
/** UTF-16 units between two checks of the number of comparisons: room for seven markers. */
const unitsPerPiece = 50

/**
 * `inline` off: all markers are removed, and nothing is checked. `attributes`: sentences without a marker get one, where a passage supports
 * them.
 */
export function createAnswerCitations({
  inline,
  attributes = false,
}: {
  inline: boolean
  attributes?: boolean
}): AnswerCitations {
  const sources: CitedSource[] = []
  const passages: EvidenceText[] = []
  const computed: string[] = []
  const foreign: string[] = []
  const check = createCitationCheck(passages, { computed, foreign })
  const rewriter = createCitationRewriter(sources, {
    inline,
    check,
    ...(attributes && { attribute: check.attribute }),
  })
  let reading = Promise.resolve()
  return {
    addPassages(added) {
      for (const { source, ...passage } of added) {
        sources.push(source)
        passages.push(passage)
      }
    },
    keepPassages(count) {
      sources.length = count
      passages.length = count
    },
    addResult: (text) => void computed.push(text),
    addForeign: (text) => void foreign.push(text),
    startReading(signal) {
      if (!inline) return
      reading = nextTurn()
        .then(prepareSupport)
        .then(() => check.read(signal))
    },
    async *push(text, signal) {
      await reading
      const slice = createTimeSlices()
      for (let at = 0; at < text.length;) {
        if (at > 0) {
          await nextTurn()
          signal.throwIfAborted()
        }
        const lastUnit = Math.min(text.length, at + unitsPerTurn)
        const lastComparison = check.comparisons() + comparisonsPerTurn
        let decided = ''
        while (at < lastUnit && check.comparisons() < lastComparison) {
          const end = endOfPiece(text, at + unitsPerPiece)
          decided += rewriter.push(text.slice(at, end))
          at = end
          const pause = slice()
          if (pause) await pause
        }
        if (decided !== '') yield decided
      }
    },
    end: rewriter.end,
    cited: rewriter.cited,
    counts: check.counts,
    comparisons: check.comparisons,
  }
}

/** Not inside a surrogate pair. */
function endOfPiece(text: string, end: number): number {
  const unit = text.charCodeAt(end)
  return unit >= 0xdc00 && unit <= 0xdfff ? end + 1 : end
}
