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
  /**
   * Whether a passage in the language of a statement deals with the same and has other figures, or a text of another service states it: then a
   * passage that cannot be compared with the statement is not believed.
   */
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

/** Texts without a number that the model received from tools. Both arrays may grow. */
export interface ToolTexts {
  /** Computed from files: a figure in one of them counts as found in each passage. */
  computed: readonly string[]
  /** From other services: no file has it. */
  foreign: readonly string[]
}

/** `passages` may grow. */
export function createPassageComparisons(passages: readonly EvidenceText[], tools: ToolTexts): PassageComparisons {
  const evidence: Evidence[] = []
  const read: Record<keyof ToolTexts, Evidence[]> = { computed: [], foreign: [] }
  let moves = 0
  let attributed = 0
  let count = 0

  const evidenceOf = (number: number) => (evidence[number - 1] ??= readEvidence(passages[number - 1]!))
  const candidateCount = () => Math.min(passages.length, maximumCandidates)

  /** The comparisons with the texts of tools. */
  function compareTools(claims: Claims, kind: keyof ToolTexts): Comparison[] {
    for (const text of tools[kind].slice(read[kind].length)) read[kind].push(readEvidence({ title: '', text }))
    count += read[kind].length
    return read[kind].map((text) => compareClaims(claims, text))
  }

  function compare(claims: Claims, number: number): Comparison {
    const comparison = compareClaims(claims, evidenceOf(number))
    count++
    for (const { figures } of compareTools(claims, 'computed')) {
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
      const isForeign = statements.some((claims) =>
        compareTools(claims, 'foreign').some((one) => concludeSupport(claims, [one]).verdict === 'supported'),
      )
      if (isForeign) return true
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
