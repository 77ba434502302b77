import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Claims,
  compareClaims,
  type Comparison,
  concludeAttribution,
  concludeSupport,
  type Evidence,
  type EvidenceText,
  isNoAnswer,
  mergeClaims,
  readClaims,
  readEvidence,
  type Support,
} from '../../../platform/evidence/index.ts'
import { detectLatinLanguage, type Language, splitSentences, tokenize } from '../../../platform/language/index.ts'
import { trimSentenceEnd } from './select-quote.ts'

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

/** UTF-16 units of text that are kept for the sentence of a marker. */
const maximumUnits = 600
/** Most parts of a sentence that markers separate. */
const maximumParts = 8
/** Less text does not show the language of an answer, and more is not needed, UTF-16 units. */
const leastLanguageUnits = 100
const maximumLanguageUnits = 2_000

const letterOrDigit = /[\p{L}\p{N}]/u

/** Follows an answer and reads the claims of its sentences, once for each part between two rows of markers. Time is linear in the text. */
function createClaimTracker() {
  /** The text since the last row. */
  let text = ''
  let isStart = true
  /** The claims of the parts of the current sentence. */
  let parts: Claims[] = []
  let beginning = ''
  let language: Language | null = null
  /** The length of `beginning` at which the language is tried next. */
  let nextLanguageUnits = leastLanguageUnits

  function answerLanguage(): Language | null {
    if (language === null && beginning.length >= nextLanguageUnits) {
      nextLanguageUnits = beginning.length === maximumLanguageUnits ? Number.POSITIVE_INFINITY : 2 * beginning.length
      language = detectLatinLanguage(tokenize(beginning, { singleCharacters: false }))
    }
    return language
  }

  return {
    /** The language of the answer so far, if it is written in Latin letters and shows it. */
    language: answerLanguage,
    push(added: string): void {
      if (beginning.length < maximumLanguageUnits) beginning += added.slice(0, maximumLanguageUnits - beginning.length)
      text += added.slice(-maximumUnits)
      // Cutting at twice the length keeps the time linear for a text that arrives in single characters.
      if (text.length > 2 * maximumUnits) {
        text = text.slice(-maximumUnits)
        isStart = false
        parts = []
      }
    },
    /**
     * The claims of the sentence before a row of markers: the part since the last row, and all of it. Empty where the text comes after the
     * row. `rest`: the text after the row so far. `isNew`: there is text since the last row.
     */
    atRow(rest: string): { statements: Claims[]; isNew: boolean } {
      const since = text.slice(-maximumUnits)
      const wasStart = isStart
      text = ''
      isStart = false
      if (leadsStatement(since, wasStart, rest)) {
        parts = []
        return { statements: [], isNew: true }
      }
      const { inner: body } = trimSentenceEnd(since)
      const start = splitSentences(body).at(-1)?.from ?? 0
      const part = body.slice(start)
      if (!letterOrDigit.test(part)) return { statements: parts.length === 0 ? [] : [mergeClaims(parts)], isNew: false }
      if (start > 0) parts = []
      const claims = readClaims(part, answerLanguage())
      parts = [...parts, claims].slice(-maximumParts)
      return { statements: parts.length > 1 ? [claims, mergeClaims(parts)] : [claims], isNew: true }
    },
  }
}

/** Whether a row begins a line of text, a list item or a cell: it belongs to what follows. Alone on its line it belongs to what is before. */
function leadsStatement(since: string, isStart: boolean, rest: string): boolean {
  const newline = since.lastIndexOf('\n')
  if (newline === -1 && !isStart) return false
  if (letterOrDigit.test(since.slice(newline + 1).replace(/^\s*\d{1,3}[.)]\s*$/u, ''))) return false
  return rest.trimStart() !== '' && !/^[ \t]*\n/.test(rest)
}

/** Compares statements of an answer with the passages that the model received. */
interface PassageComparisons {
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
interface ToolTexts {
  /** Computed from files: a figure in one of them counts as found in each passage. */
  computed: readonly string[]
  /** From other services: no file has it. */
  foreign: readonly string[]
}

/** `passages` may grow. */
function createPassageComparisons(passages: readonly EvidenceText[], tools: ToolTexts): PassageComparisons {
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
        await readInTurns(evidenceOf(number))
      }
    },
    count: () => count,
  }
}

/**
 * Gives the event loop a turn, reads the clauses of a passage, and gives another: otherwise one denial reads those of all passages at once. A
 * passage that does not show its language is read in that of the sentence.
 */
async function readInTurns({ clauses, language }: Evidence): Promise<void> {
  await nextTurn()
  if (language.latin !== null) clauses(language)
  await nextTurn()
}
