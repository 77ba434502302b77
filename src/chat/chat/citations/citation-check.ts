import {
  type Claims,
  type Comparison,
  concludeSupport,
  type EvidenceText,
  isNoAnswer,
  readClaims,
  type Support,
} from '../../../platform/evidence/index.ts'
import { createClaimTracker } from './claim-tracker.ts'
import { createPassageComparisons, type ToolTexts } from './passage-comparisons.ts'

/** What became of the markers of an answer; a marker with two numbers counts twice. */
export interface CitationCounts {
  /** The passage supports the sentence, alone or with the others of its row. */
  supported: number
  /** Replaced by a passage that supports the sentence. */
  moved: number
  /** Removed: no given passage supports the sentence. */
  dropped: number
  /** Kept, not checked: nothing in the passage contradicts, but nothing shows that it supports, as in another language. */
  unchecked: number
  /** Added to a sentence without a marker. */
  attributed: number
}

/** Checks each row of markers before it leaves. */
export interface CitationCheck {
  /** Follows the text of the answer. */
  push(text: string): void
  /** The numbers to show for a row of markers at the end of the text so far; null where all of them stay. */
  decide(numbers: readonly number[], rest: string): readonly number[] | null
  /** The number of the passage that supports a sentence without a marker, and that the reader is shown; null: none is sure to. */
  attribute(sentence: string): number | null
  /** Reads new passages in short turns of the event loop, until `signal` aborts. Others are read when they are compared. Never rejects. */
  read(signal: AbortSignal): Promise<void>
  counts(): CitationCounts
  /** Comparisons of a statement with a text so far: most of the time of an answer. */
  comparisons(): number
}

/** `passages[n - 1]` is the passage with number n in the prompt; the array may grow. */
export function createCitationCheck(passages: readonly EvidenceText[], tools: ToolTexts): CitationCheck {
  const tracker = createClaimTracker()
  const comparisons = createPassageComparisons(passages, tools)
  const counts: CitationCounts = { supported: 0, moved: 0, dropped: 0, unchecked: 0, attributed: 0 }
  /** The passages of the last row, for a row that follows without a new statement. */
  let lastKept: readonly number[] = []

  return {
    push: tracker.push,
    decide(given, rest) {
      const numbers = [...new Set(given)]
      const { statements, isNew } = tracker.atRow(rest)
      const { kept, unchecked, isDenied } = judgeRow(statements, numbers, isNew ? [] : lastKept, comparisons.compare)
      const isBelieved = kept.length > 0 && (unchecked < kept.length || !comparisons.isContradicted(statements, kept))
      if (isBelieved) {
        counts.supported += kept.length - unchecked
        counts.unchecked += unchecked
        counts.dropped += numbers.length - kept.length
        lastKept = isNew ? kept : [...lastKept, ...kept]
        return kept.length === numbers.length ? null : kept
      }
      const better = isDenied || kept.length > 0 ? null : comparisons.findBetter(statements, numbers)
      if (better === null) counts.dropped += numbers.length
      else {
        counts.moved++
        counts.dropped += numbers.length - 1
      }
      lastKept = better === null ? [] : [better]
      return lastKept
    },
    attribute(sentence) {
      if (isNoAnswer(sentence)) return null
      const found = comparisons.findSource(readClaims(sentence, tracker.language()))
      if (found !== null) counts.attributed++
      return found
    },
    read: comparisons.read,
    counts: () => ({ ...counts }),
    comparisons: comparisons.count,
  }
}

interface JudgedRow {
  kept: readonly number[]
  /** Those of `kept` whose passage shows no support and no contradiction. */
  unchecked: number
  /** A passage states the opposite: no other one is sought. */
  isDenied: boolean
}

/**
 * Which numbers of a row stay: each that supports one of the statements alone; without such a number, those whose passages support it
 * together with the others. `earlier`: passages that are already cited for the same statement.
 */
function judgeRow(
  statements: readonly Claims[],
  numbers: readonly number[],
  earlier: readonly number[],
  compare: (claims: Claims, number: number) => Comparison,
): JudgedRow {
  if (statements.length === 0) return { kept: numbers, unchecked: numbers.length, isDenied: false }
  const verdicts = new Map<number, Support['verdict']>()
  let isDenied = false
  for (const claims of statements) {
    const supports = numbers.map((number) => concludeSupport(claims, [compare(claims, number)]))
    const best = supports.reduce(
      (most, { verdict, overlap }) => (verdict === 'supported' ? Math.max(most, overlap) : most),
      0,
    )
    if (supports.some(({ missing, overlap }) => missing === 'negation' && overlap >= best)) {
      isDenied = true
      continue
    }
    for (const [index, { verdict }] of supports.entries()) {
      const number = numbers[index]!
      if (verdict !== 'unsupported' && verdicts.get(number) !== 'supported') verdicts.set(number, verdict)
    }
  }
  if (verdicts.size > 0) {
    const kept = numbers.filter((number) => verdicts.has(number))
    return { kept, unchecked: kept.filter((number) => verdicts.get(number) === 'unchecked').length, isDenied }
  }
  for (const claims of isDenied ? [] : statements) {
    const kept = findTeam(claims, numbers, earlier, compare)
    if (kept.length > 0) return { kept, unchecked: 0, isDenied }
  }
  return { kept: [], unchecked: 0, isDenied }
}

/** The numbers whose passages support the claims together, without those that add nothing; empty where they do not. */
function findTeam(
  claims: Claims,
  numbers: readonly number[],
  earlier: readonly number[],
  compare: (claims: Claims, number: number) => Comparison,
): number[] {
  const comparisons = new Map([...earlier, ...numbers].map((number) => [number, compare(claims, number)]))
  // Words of another language cannot complete a sentence.
  if ([...comparisons.values()].some(({ languages }) => languages === 'different')) return []
  const isSupported = (team: readonly number[]) =>
    team.length > 0 &&
    concludeSupport(
      claims,
      [...earlier, ...team].map((number) => comparisons.get(number)!),
    ).verdict === 'supported'
  if (!isSupported(numbers)) return []
  let team = [...numbers]
  for (const number of numbers.toReversed()) {
    const others = team.filter((other) => other !== number)
    if (isSupported(others)) team = others
  }
  return team
}
