import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Claims,
  compareClaims,
  concludeAttribution,
  type Comparison,
  concludeSupport,
  type Evidence,
  type EvidenceText,
  readEvidence,
} from '../../../platform/evidence/index.ts'

/** Compares statements of an answer with the passages that the model received. */
export interface PassageComparisons {
  compare(claims: Claims, number: number): Comparison
  /** The passage that supports one of the statements best, of equal ones the first; none of `tried`. */
  findBetter(statements: readonly Claims[], tried: readonly number[]): number | null
  /** The passage that certainly supports a sentence which names none, of equal ones the first. */
  findSource(claims: Claims): number | null
  /** Whether a passage in the language of a statement deals with the same and has other figures: then a foreign one is not believed. */
  isContradicted(statements: readonly Claims[], tried: readonly number[]): boolean
  /** Reads new passages in short turns of the event loop, until `signal` aborts. Others are read when they are compared. Never rejects. */
  read(signal: AbortSignal): Promise<void>
  /** Comparisons of a statement with a text so far. */
  count(): number
}

/** Most passages that are compared to move a marker, and most rows for which that is tried: they bound the time of an answer. */
const maximumCandidates = 200
const maximumMoves = 100
/** Most sentences without a marker that are compared with all passages. */
const maximumAttributed = 300
/** Share of the words of a statement that a passage has which deals with the same. */
const contradictingOverlap = 0.6

/** Both arrays may grow. `toolResults`: a figure in one of them counts as found in each passage. */
export function createPassageComparisons(
  passages: readonly EvidenceText[],
  toolResults: readonly string[],
): PassageComparisons {
  const evidence: Evidence[] = []
  const computed: Evidence[] = []
  let moves = 0
  let attributed = 0
  let count = 0

  const evidenceOf = (number: number) => (evidence[number - 1] ??= readEvidence(passages[number - 1]!))
  const candidateCount = () => Math.min(passages.length, maximumCandidates)

  function compare(claims: Claims, number: number): Comparison {
    const comparison = compareClaims(claims, evidenceOf(number))
    for (let at = computed.length; at < toolResults.length; at++) {
      computed.push(readEvidence({ title: '', text: toolResults[at]! }))
    }
    count += 1 + computed.length
    for (const result of computed) {
      const { figures } = compareClaims(claims, result)
      comparison.figures = comparison.figures.map((found, index) => found || figures[index]!)
    }
    return comparison
  }

  /** The passages besides those tried, for one row; none once enough rows had theirs. */
  function* candidates(tried: readonly number[]): Generator<number, void, void> {
    if (moves >= maximumMoves) return
    moves++
    for (let number = 1; number <= candidateCount(); number++) if (!tried.includes(number)) yield number
  }

  return {
    compare,
    findBetter(statements, tried) {
      let best: { number: number; overlap: number } | null = null
      for (const number of candidates(tried)) {
        for (const claims of statements) {
          const { verdict, overlap } = concludeSupport(claims, [compare(claims, number)])
          if (verdict === 'supported' && overlap > (best?.overlap ?? -1)) best = { number, overlap }
        }
      }
      return best?.number ?? null
    },
    findSource(claims) {
      if (attributed++ >= maximumAttributed) return null
      let best: { number: number; share: number } | null = null
      for (let number = 1; number <= candidateCount(); number++) {
        const share = concludeAttribution(claims, compare(claims, number))
        if (share !== null && share > (best?.share ?? 0)) best = { number, share }
      }
      return best?.number ?? null
    },
    isContradicted(statements, tried) {
      if (!statements.some(({ figures }) => figures.length > 0)) return false
      for (const number of candidates(tried)) {
        const differs = statements.some((claims) => {
          const comparison = compare(claims, number)
          const { missing, overlap } = concludeSupport(claims, [comparison])
          return comparison.languages === 'same' && missing === 'number' && overlap >= contradictingOverlap
        })
        if (differs) return true
      }
      return false
    },
    async read(signal) {
      for (let number = evidence.length + 1; number <= candidateCount(); number++) {
        if (signal.aborted) return
        evidenceOf(number)
        await nextTurn()
      }
    },
    count: () => count,
  }
}
