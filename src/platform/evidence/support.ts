import { defaultLanguage, isFunctionWord } from '../language/index.ts'
import { hasOtherBounds, isOfOtherItem, swapsItems } from './items.ts'
import { type Claims, once, readClaims } from './claims.ts'
import type { Clause } from './clauses.ts'
import {
  compareRates,
  findDeniedSentences,
  findDeniedWords,
  findOpposed,
  findOverstated,
  type FoundRates,
  mostInSentence,
  restates,
} from './contradictions.ts'
import { derivedFrom, isOperationWord, type Operands } from './derived-numbers.ts'
import {
  compareShares,
  type Evidence,
  type EvidenceText,
  hasName,
  hasWord,
  headSegment,
  type PartNumber,
  readEvidence,
  segmentsOfFigure,
} from './evidence.ts'
import {
  deniesOtherRow,
  findNearSegments,
  findOtherColumns,
  isOfOtherLine,
  isOfOtherRows,
  mostNamed,
  type RowsBy,
} from './find-places.ts'
import { findDenied, lacksDenial, sharesDenials } from './negation.ts'
import { type Figure, isYear, plainValueOf } from './read-figures.ts'
import { unitOfWord } from './read-number.ts'
import { type ComparedRoles, compareRoles } from './roles.ts'
import { compareLanguages, hasPairs, isLightWord, latinOf } from './words.ts'

/** Which claims of a sentence a passage has, in the order of the claims. */
export interface Comparison {
  /** Whether both are in the same language; words are compared only where they are not `different`. */
  languages: 'same' | 'different' | 'unknown'
  figures: boolean[]
  /** Whether the passage has each share in words; `other`: it states another one of the same. */
  shares: ('found' | 'other' | 'unknown')[]
  /** Figures that only other rows or columns of a table have: nothing else is computed to be the same. */
  elsewhere: boolean[]
  names: boolean[]
  quotes: boolean[]
  words: boolean[]
  /** The words that the passage has as others of that meaning, near to most words of the sentence. */
  synonyms: () => boolean[]
  /** The most figures and names of the sentence that one part of the passage has: they are in the same relation. */
  related: number
  /** Most words of the sentence that one part of the passage and its neighbours have, and the words that title and headings have. */
  wordsTogether: { ofPart: number; ofHead: number }
  /** A part of the passage with a figure of the sentence has one of its words. */
  isNamed: boolean
  /** What a number of the sentence may be computed from, by the rows that it names. */
  operands: Record<RowsBy, PassageOperands>
  /** What the passage denies, or states with a limit where the sentence has none: clauses of the sentence. */
  denied: () => readonly (readonly Clause[])[]
  /** What it has the opposite of a word of. */
  opposed: () => readonly (readonly Clause[])[]
  /** The share of the words of clauses that a sentence of the passage has. */
  shareOf: (clauses: readonly Clause[]) => number
  /** Whether a sentence of it is nearly the same. */
  restates: () => boolean
  /** Whether it has the rates of the sentence, such as "per day". */
  rates: () => FoundRates
  /** Whether it has the same one doing something to the same one. */
  roles: () => ComparedRoles
  /** Whether the passage has no denial that the sentence may mean by its own one. */
  lacksDenial: () => boolean
  /** Whether it names values together that the passage has in different rows. */
  isOfOtherRows: () => boolean
  /** Whether an amount of the sentence is that of something else in a list of sentences. */
  isOfOtherItem: () => boolean
  /** Whether what it denies is the value of another row. */
  deniesOtherRow: () => boolean
  /** Whether the passage denies what the sentence denies; true for a sentence that denies nothing. */
  sharesDenials: () => boolean
}

type PassageOperands = Pick<Operands, 'parts' | 'cells' | 'columns' | 'hasRows' | 'rowCounts' | 'totals'>

export interface Support {
  /** `unchecked`: nothing contradicts, but what can be compared does not show support, as in another language. */
  verdict: 'supported' | 'unsupported' | 'unchecked'
  /** The share of the content words that were found, 0 to 1. */
  overlap: number
  /** What was not found first; `negation`: the passage states the opposite. */
  missing: 'number' | 'month' | 'currency' | 'name' | 'quote' | 'words' | 'negation' | 'denial' | null
}

/**
 * Least share of the content words. On the public sentences of docs/understand/answers.md 0.45 lets 2 % of the swapped passages pass and 0.65
 * drops 2 % of the right ones.
 */
const minimumOverlap = 0.55
/** For scripts without spaces, whose words are pairs of characters: other wording shares fewer pairs. */
const minimumOverlapOfPairs = 0.4
/** With figures or names that all were found, where a table or a short text does not show its language. */
const minimumOverlapWithFacts = 0.25
/** With several facts, or with a number that is hardly in a text about something else. */
const minimumOverlapOfSpecific = 0.4
/** So few words need one match. */
const fewWords = 2
/** What a word counts that the passage has as another one of that meaning, if it has this share of the words themselves. */
const synonymWeight = 0.6
const minimumOverlapWithSynonyms = 0.35
/** A passage that contradicts a clause deals with the same if it has this share of the words of it that each of the others has. */
const nearlyMost = 0.9
/** Across languages so many figures and names of one sentence must be in one part of the passage. */
const minimumRelated = 2

/** Whether a passage supports a sentence of an answer. Deterministic; time is linear in both texts. */
export function supports(sentence: string, passage: EvidenceText): boolean {
  const claims = readClaims(sentence)
  return concludeSupport(claims, [compareClaims(claims, readEvidence(passage))]).verdict !== 'unsupported'
}

/** Whether passages that were compared with the same claims support them together. */
export function concludeSupport(claims: Claims, comparisons: readonly Comparison[]): Support {
  const anyHas = (kind: 'figures' | 'names' | 'quotes' | 'words', index: number) =>
    comparisons.some((comparison) => comparison[kind][index])
  const isForeign = comparisons.some(({ languages }) => languages === 'different')
  const isComputed = claims.operations.size > 0 && claims.figures.some((_, index) => !anyHas('figures', index))
  const units = new Set(claims.figures.map((figure) => (figure.type === 'number' ? figure.unit : undefined)))
  // Words that state a computation or a unit, and those of nearly any sentence, need not be those of the passage.
  const isLeftOut = (word: string) =>
    (isComputed && isOperationWord(word)) ||
    (unitOfWord(word) !== undefined && units.has(unitOfWord(word))) ||
    isLightWord(word, latinOf(claims.language, defaultLanguage))
  const words = claims.words.flatMap(([word], index) => (isLeftOut(word!) && !anyHas('words', index) ? [] : [index]))
  const found = words.filter((index) => anyHas('words', index)).length
  const overlap = words.length === 0 ? 0 : found / words.length
  const unsupported = (missing: Support['missing']): Support => ({ verdict: 'unsupported', overlap, missing })

  const figures = claims.figures.map((_, index) => anyHas('figures', index))
  const missing = findMissing(claims, figures, comparisons)
  if (missing) return unsupported(missing.type)
  const hasShare = (index: number, state: 'found' | 'other') =>
    comparisons.some(({ shares }) => shares[index] === state)
  if (claims.shares.some((_, index) => !hasShare(index, 'found') && hasShare(index, 'other')))
    return unsupported('number')
  const numbers = claims.figures.filter(({ type }) => type !== 'currency').length
  const isRelated = comparisons.some(({ related }) => related >= minimumRelated)
  // Names and quotes are translated.
  if (isForeign) return { verdict: isRelated ? 'supported' : 'unchecked', overlap, missing: null }
  const isUnknown = comparisons.some(({ languages }) => languages === 'unknown')
  // A table of another language.
  if (isUnknown && numbers > 0 && found === 0) {
    return { verdict: isRelated ? 'supported' : 'unchecked', overlap, missing: null }
  }
  const isOfRow = comparisons.some((comparison) => comparison.deniesOtherRow())
  if (isContradicted(comparisons, { isOfRow, isComputed })) return unsupported('negation')
  const hasRates = (...states: FoundRates[]) => comparisons.some(({ rates }) => states.includes(rates()))
  const hasRoles = (state: ComparedRoles) => comparisons.some(({ roles }) => roles() === state)
  if (hasRoles('swapped') && !hasRoles('stated')) return unsupported('name')
  if (!isComputed && hasRates('other') && !hasRates('found', 'counted')) return unsupported('number')
  if (!isOfRow && comparisons.every((comparison) => comparison.lacksDenial())) return unsupported('denial')
  if (claims.names.some((_, index) => !anyHas('names', index))) return unsupported('name')
  if (comparisons.some((comparison) => comparison.isOfOtherRows())) return unsupported('name')
  const withFigures = comparisons.filter(
    (comparison) =>
      comparison.figures.includes(true) || (claims.figures.length === 0 && comparison.words.includes(true)),
  )
  // "Twice a year" next to "every six months" is no other amount.
  const isRate = claims.figures.length === 0 && hasRates('counted')
  if (!isRate && withFigures.length > 0 && withFigures.every((comparison) => comparison.isOfOtherItem()))
    return unsupported('number')
  if (claims.quotes.some((_, index) => !anyHas('quotes', index))) return unsupported('quote')

  const facts = figures.length + claims.names.length + claims.quotes.length
  // "Yes." and headings of one word.
  if (facts === 0 && words.length < 2 && found === 0) return { verdict: 'unchecked', overlap, missing: null }
  if (words.length === 0) return { verdict: 'supported', overlap, missing: null }
  const usual = hasPairs(claims.language) ? minimumOverlapOfPairs : minimumOverlap
  const isRowOfTable =
    (numbers > 0 && comparisons.some(({ isNamed }) => isNamed)) ||
    (isComputed && comparisons.some(({ operands }) => operands.words.hasRows))
  const isSpecific = facts > 1 || claims.figures.some(isSpecificNumber)
  const needed =
    (isUnknown && facts > 0) || isRowOfTable
      ? minimumOverlapWithFacts
      : isSpecific
        ? Math.min(usual, minimumOverlapOfSpecific)
        : usual
  const countSynonyms = () =>
    words.filter((index) => !anyHas('words', index) && comparisons.some(({ synonyms }) => synonyms()[index])).length
  const isEnough =
    words.length <= fewWords
      ? found > 0
      : overlap >= needed ||
        (overlap >= minimumOverlapWithSynonyms && found + synonymWeight * countSynonyms() >= needed * words.length)
  return isEnough ? { verdict: 'supported', overlap, missing: null } : unsupported('words')
}

/**
 * Whether a passage contradicts a sentence that no other one restates. A passage that has less of the contradicted clause than another one speaks of
 * something else.
 */
function isContradicted(
  comparisons: readonly Comparison[],
  { isOfRow, isComputed }: { isOfRow: boolean; isComputed: boolean },
): boolean {
  const contradictions = comparisons.map(({ denied, opposed }) => [
    ...(isOfRow ? [] : denied()),
    // "A has 3 fewer than B" is computed from a passage about what has more.
    ...(isComputed ? [] : opposed()),
  ])
  const others = comparisons.filter((_, at) => contradictions[at]!.length === 0)
  const isOfSame = ({ shareOf }: Comparison, clauses: readonly Clause[]) =>
    others.every((other) => shareOf(clauses) >= nearlyMost * other.shareOf(clauses))
  return (
    comparisons.some((one, at) => contradictions[at]!.some((clauses) => isOfSame(one, clauses))) &&
    !others.some((one) => one.restates())
  )
}

/** Finds the claims of a sentence in a passage. */
export function compareClaims(claims: Claims, passage: Evidence): Comparison {
  const languages = compareLanguages(claims.language, passage.language)
  const found = claims.figures.map((figure) => segmentsOfFigure(passage, figure))
  const near = findNearSegments(claims, passage, found)
  const isOfOtherColumn = findOtherColumns(claims, passage)
  const isNear = (index: number, segment: number) =>
    (languages === 'different' && !passage.isRow[segment]) ||
    (near.has(index, segment) && !isOfOtherColumn(claims.figures[index]!, segment))
  const figures = found.map((segments, index) => segments.some((segment) => isNear(index, segment)))
  const operandsBy = (rowsBy: RowsBy) =>
    claims.operations.size > 0
      ? operandsOf(claims, passage, partsFor(passage, near.best(rowsBy), languages))
      : noOperands
  const latin = latinOf(passage.language, defaultLanguage)
  const isLight = (word: string) => isFunctionWord(word, latin) || isLightWord(word, latin)
  // A short sentence in German may not show its language, and all its nouns have capitals.
  const areNouns = languages === 'unknown' && claims.language.latin === null && passage.language.latin === 'de'
  for (const index of findRepeatedNumbers(claims.figures, passage)) figures[index] = false
  const isSame = languages !== 'different'
  const own = once(() => claims.clauses(passage.language))
  const clauses = once(() => passage.clauses(claims.language))
  const denied = once(() =>
    isSame
      ? [
          ...[findDenied, findOverstated].flatMap((find) => find(own(), clauses()).map((clause) => [clause])),
          ...[findDeniedSentences, findDeniedWords].flatMap((find) => find(own(), clauses())),
        ]
      : [],
  )
  const opposed = once(() => (isSame ? findOpposed(own(), clauses()) : []))
  return {
    languages,
    figures,
    shares: compareShares(claims.shares, passage, near.isClose),
    elsewhere: found.map((segments, index) => !figures[index] && segments.some((segment) => passage.isRow[segment])),
    names: claims.names.map((name) => areNouns || hasName(passage, name)),
    quotes: claims.quotes.map((quote) => passage.sequence.includes(` ${quote} `)),
    words: claims.words.map((keys) => hasWord(passage, keys)),
    synonyms: once(() => {
      const places = new Set([...near.best('words')].flatMap((at) => [at - 1, at, at + 1]))
      const isThere = (key: string) =>
        passage.words.get(key)?.some((at) => at === headSegment || places.has(at)) ?? false
      return claims.synonyms().map((keys) => keys.some(isThere))
    }),
    related: countRelated(claims, passage, found),
    wordsTogether: { ofPart: near.mostWords, ofHead: countWordsOfHead(claims, passage) },
    isNamed: found.some((segments) => segments.some((segment) => passage.isRow[segment] && near.isNamed(segment))),
    operands: {
      words: operandsBy('words'),
      'words of no header': operandsBy('words of no header'),
      // Only the cells and columns that the sentence names: with all numbers of these rows more results would be accidents.
      names: { ...operandsBy('names'), parts: [] },
    },
    denied,
    opposed,
    shareOf: (claimed) => (isSame ? mostInSentence(claimed, clauses()) : 0),
    restates: () => isSame && figures.every(Boolean) && restates(own(), clauses()),
    rates: once(() => (isSame ? compareRates(own(), clauses()) : 'unknown')),
    roles: once(() => (isSame && latin === 'en' ? compareRoles(claims.roles(), passage.roles()) : 'unknown')),
    lacksDenial: () => isSame && lacksDenial(own(), clauses()),
    deniesOtherRow: once(() => isSame && deniesOtherRow(claims, passage)),
    isOfOtherRows: () => isSame && [isOfOtherRows, isOfOtherLine].some((isOther) => isOther(claims, passage)),
    isOfOtherItem: () =>
      isSame &&
      (hasOtherBounds(claims.bounds(latin), passage.bounds) ||
        swapsItems(claims.items(latin), passage.items) ||
        isOfOtherItem(claims, {
          readPassage: passage.items,
          isKnown: (keys) => hasWord(passage, keys) || isLight(keys[0]!),
          isDenying: own().some(({ denied }) => denied !== null),
        })),
    sharesDenials: () => sharesDenials(own(), clauses()),
  }
}

function countWordsOfHead(claims: Claims, { words }: Evidence): number {
  return claims.words.filter((keys) => keys.some((key) => words.get(key)?.[0] === headSegment)).length
}

/** The first figure that is in no passage and is not computed from figures that are. */
function findMissing(
  claims: Claims,
  figures: readonly boolean[],
  comparisons: readonly Comparison[],
): Figure | undefined {
  const isMissing = (_: Figure, index: number) => !figures[index]
  if (!claims.figures.some(isMissing)) return undefined
  if (claims.operations.size === 0) return claims.figures.find(isMissing)
  const valuesOf = (all: readonly Figure[]) => all.flatMap((figure) => plainValueOf(figure) ?? [])
  const own = valuesOf(claims.figures.filter((_, index) => figures[index]))
  const claimed = valuesOf(claims.figures)
  const missing = valuesOf(claims.figures.filter((_, index) => !figures[index]))
  const derivations = (['words', 'words of no header', 'names'] as const).map((rowsBy) => {
    const found = comparisons.map(({ operands }) => operands[rowsBy])
    const operands: Operands = {
      own,
      claimed,
      missing,
      parts: found.flatMap(({ parts }) => parts),
      cells: found.flatMap(({ cells }) => cells),
      columns: found.flatMap(({ columns }) => columns),
      hasRows: found.some(({ hasRows }) => hasRows),
      rowCounts: found.flatMap(({ rowCounts }) => rowCounts),
      totals: found.flatMap(({ totals }) => totals),
    }
    return derivedFrom(operands, claims.operations)
  })
  const isElsewhere = (index: number) => comparisons.some(({ elsewhere }) => elsewhere[index])
  return claims.figures.find(
    (figure, index) =>
      isMissing(figure, index) && !derivations.some((isDerived) => isDerived(figure, isElsewhere(index))),
  )
}

/** Sentences of another language have numbers of anything. */
function partsFor(
  { isRow }: Evidence,
  best: ReadonlySet<number>,
  languages: Comparison['languages'],
): ReadonlySet<number> {
  return languages === 'different' ? new Set([...best].filter((part) => isRow[part])) : best
}

const signed = ({ value, isNegative }: PartNumber) => (isNegative ? -value : value)

const noOperands: PassageOperands = { parts: [], cells: [], columns: [], hasRows: false, rowCounts: [], totals: [] }

/** The numbers of each of these parts of a passage, and of the columns that the sentence names. */
function operandsOf(claims: Claims, passage: Evidence, parts: ReadonlySet<number>): PassageOperands {
  const { partNumbers, columns, isRow } = passage
  const values = claims.figures.map((figure) => plainValueOf(figure) ?? []).map((value) => [value].flat())
  const named = mostNamed([...claims.words, ...values], columns)
  const rows = [...parts].filter((part) => isRow[part]).map((part) => partNumbers[part]!)
  return {
    parts: [...parts].map((part) => partNumbers[part]!.map(signed)).filter(({ length }) => length > 0),
    cells: rows.flatMap((row) => row.filter(({ column }) => named.has(column)).map(signed)),
    columns: columnsOfRows(rows),
    hasRows: rows.length > 0,
    rowCounts: [isRow.filter(Boolean).length],
    totals: totalsOf(passage),
  }
}

const knownTotals = new WeakMap<Evidence, PassageOperands['totals']>()

function totalsOf(passage: Evidence): PassageOperands['totals'] {
  const known = knownTotals.get(passage)
  if (known) return known
  const rows = passage.partNumbers.filter((_, part) => passage.isRow[part])
  const totals = columnsOfRows(rows).map((column) => ({
    sum: column.reduce((sum, one) => sum + one, 0),
    count: column.length,
  }))
  knownTotals.set(passage, totals)
  return totals
}

/** The numbers of each column that two rows or more have, in the order of the rows. */
function columnsOfRows(rows: readonly (readonly PartNumber[])[]): number[][] {
  const columns = new Map<number, number[]>()
  for (const row of rows) {
    for (const [column, [number]] of Map.groupBy(row, (one) => one.column)) {
      const known = columns.get(column)
      if (known) known.push(signed(number!))
      else columns.set(column, [signed(number!)])
    }
  }
  return [...columns.values()].filter(({ length }) => length > 1)
}

/** Smaller numbers are in nearly every text. */
const leastDistinctive = 13

const leastSpecificDigits = 3

/** A number of several digits that is no year: 821.14. */
function isSpecificNumber(figure: Figure): boolean {
  const value = plainValueOf(figure)
  return value !== null && !isYear(value) && String(value).replaceAll(/\D|0+$/g, '').length >= leastSpecificDigits
}

function isDistinctive(figure: Figure): boolean {
  if (figure.type !== 'number') return figure.type === 'month'
  return figure.readings.every((reading) =>
    reading.some((value) => value >= leastDistinctive || !Number.isInteger(value)),
  )
}

/** The most different figures and names of a sentence that one part of the passage, or two neighbours, have. */
function countRelated(claims: Claims, passage: Evidence, found: readonly (readonly number[])[]): number {
  const counts = new Map<number, number>()
  const count = (segments: Iterable<number>) => {
    for (const segment of new Set(segments))
      if (segment !== headSegment) counts.set(segment, (counts.get(segment) ?? 0) + 1)
  }
  const seen = new Set<string>()
  for (const [index, figure] of claims.figures.entries()) {
    const key = JSON.stringify(figure.type === 'number' ? figure.readings : figure)
    if (isDistinctive(figure) && !seen.has(key)) count(found[index]!)
    seen.add(key)
  }
  if (counts.size === 0) return 0
  for (const { keys } of claims.names) count(keys.at(-1)!.flatMap((key) => passage.words.get(key) ?? []))
  return Math.max(0, ...counts.values())
}

/** Larger numbers are years and amounts, which a sentence may repeat. */
const maximumCountedNumber = 1_000

/** Numbers that the sentence has more often than the passage: one of them is another number in the passage. Returns their indexes. */
function findRepeatedNumbers(figures: readonly Figure[], { numbers }: Evidence): number[] {
  const indexes = new Map<number, number[]>()
  for (const [index, figure] of figures.entries()) {
    const value = plainValueOf(figure)
    if (value === null || value >= maximumCountedNumber) continue
    const known = indexes.get(value)
    if (known) known.push(index)
    else indexes.set(value, [index])
  }
  return [...indexes].flatMap(([value, found]) =>
    found.length > Math.max(1, numbers.counts.get(value) ?? 0) ? found : [],
  )
}
