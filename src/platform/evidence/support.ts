import { type Claims, readClaims } from './claims.ts'
import { type Evidence, type EvidenceNumbers, type EvidenceText, headSegment, readEvidence } from './evidence.ts'
import type { Figure } from './read-figures.ts'
import { exact, precisionOf } from './read-number.ts'
import { compareLanguages } from './text-language.ts'

/** Which claims of a sentence a passage has, in the order of the claims. */
export interface Comparison {
  /** Whether both are in the same language; words are compared only where they are not `different`. */
  languages: 'same' | 'different' | 'unknown'
  figures: boolean[]
  names: boolean[]
  quotes: boolean[]
  words: boolean[]
}

export interface Support {
  /** `unchecked`: the sentence has nothing that can be compared with the passage. */
  verdict: 'supported' | 'unsupported' | 'unchecked'
  /** The share of the content words that were found, 0 to 1. */
  overlap: number
  /** What was not found first. */
  missing: 'number' | 'month' | 'currency' | 'name' | 'quote' | 'words' | null
}

/**
 * Least share of the content words. On the public sentences of docs/understand/answers.md 0.45 lets 2 % of the swapped passages pass and 0.65
 * drops 2 % of the right ones.
 */
const minimumOverlap = 0.55
/** For scripts without spaces, whose words are pairs of characters: other wording shares fewer pairs. */
const minimumOverlapOfPairs = 0.4
const pairedScripts = ['east_asian', 'hangul']
/** With figures or names that all were found, where a table or a short text does not show its language. */
const minimumOverlapWithFacts = 0.25
/** So few words need one match. */
const fewWords = 2
/**
 * A figure counts where its sentence or a neighbour has this share of the words of the best matching sentence. In a table it must be in
 * a row with most of the words, because all rows are alike.
 */
const nearShare = 0.3
const nearShareInTable = 0.7

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
  const found = claims.words.filter((_, index) => anyHas('words', index)).length
  const overlap = claims.words.length === 0 ? 0 : found / claims.words.length
  const unsupported = (missing: Support['missing']): Support => ({ verdict: 'unsupported', overlap, missing })

  const figures = claims.figures.map((_, index) => anyHas('figures', index))
  const operands = claims.hasDerivation ? operandsOf(claims.figures, figures) : []
  const missing = claims.figures.find((figure, index) => !figures[index] && !isDerived(figure, operands))
  if (missing) return unsupported(missing.type)
  // Names and quotes are translated.
  if (isForeign) return { verdict: figures.length > 0 ? 'supported' : 'unchecked', overlap, missing: null }
  if (claims.names.some((_, index) => !anyHas('names', index))) return unsupported('name')
  if (claims.quotes.some((_, index) => !anyHas('quotes', index))) return unsupported('quote')

  const facts = figures.length + claims.names.length + claims.quotes.length
  // "Yes." and headings of one word.
  if (facts === 0 && claims.words.length < 2 && found === 0) return { verdict: 'unchecked', overlap, missing: null }
  if (claims.words.length === 0) return { verdict: 'supported', overlap, missing: null }
  const isUnknown = comparisons.some(({ languages }) => languages === 'unknown')
  const usual = pairedScripts.includes(claims.language.script ?? '') ? minimumOverlapOfPairs : minimumOverlap
  const needed = isUnknown && facts > 0 ? minimumOverlapWithFacts : usual
  const isEnough = claims.words.length <= fewWords ? found > 0 : overlap >= needed
  return isEnough ? { verdict: 'supported', overlap, missing: null } : unsupported('words')
}

/** Finds the claims of a sentence in a passage. */
export function compareClaims(claims: Claims, passage: Evidence): Comparison {
  const languages = compareLanguages(claims.language, passage.language)
  const isNear = languages === 'different' ? () => true : findNearSegments(claims, passage)
  const figures = claims.figures.map((figure) => segmentsOfFigure(passage, figure).some(isNear))
  // A short sentence in German may not show its language, and all its nouns have capitals.
  const areNouns = languages === 'unknown' && claims.language.latin === null && passage.language.latin === 'de'
  for (const index of findRepeatedNumbers(claims.figures, passage)) figures[index] = false
  return {
    languages,
    figures,
    names: claims.names.map((name) => areNouns || hasName(passage, name)),
    quotes: claims.quotes.map((quote) => passage.sequence.includes(` ${quote} `)),
    words: claims.words.map((keys) => hasWord(passage, keys)),
  }
}

const hasWord = ({ words }: Evidence, keys: readonly string[]) => keys.some((key) => words.has(key))

/** Which segments of a passage deal with the same as the sentence: they and their neighbours have many of its words. */
function findNearSegments(claims: Claims, { words, segments, isTable }: Evidence): (segment: number) => boolean {
  const counts = new Uint16Array(segments)
  const reach = isTable ? 0 : 1
  for (const keys of claims.words) {
    const found = new Set<number>()
    for (const key of keys) for (const segment of words.get(key) ?? []) found.add(segment)
    // The title and the headings belong to all segments, so their words do not distinguish them.
    if (found.has(headSegment)) continue
    const near = new Set<number>()
    for (const segment of found) for (let at = segment - reach; at <= segment + reach; at++) near.add(at)
    for (const segment of near) if (segment >= 0 && segment < segments) counts[segment]!++
  }
  const least = counts.reduce((best, count) => Math.max(best, count), 0) * (isTable ? nearShareInTable : nearShare)
  return (segment) => segment === headSegment || counts[segment]! >= least
}

function segmentsOfFigure(passage: Evidence, figure: Figure): readonly number[] {
  switch (figure.type) {
    case 'month':
      return passage.months.get(figure.month) ?? []
    case 'currency':
      // Tables and prices often leave the currency out.
      return passage.currencies.size === 0 || passage.currencies.has(figure.code) ? [headSegment] : []
    case 'number':
      return segmentsOfNumber(passage, figure)
  }
}

type NumberFigure = Extract<Figure, { type: 'number' }>

/** The segments of the first reading whose numbers all are in the passage. */
function segmentsOfNumber({ numbers, months }: Evidence, figure: NumberFigure): readonly number[] {
  for (const reading of figure.readings) {
    const found = reading.map((value) => [
      ...findNumber(numbers, value, figure),
      ...(figure.mayBeMonth ? (months.get(value) ?? []) : []),
    ])
    if (found.every((segments) => segments.length > 0)) return found.flat()
  }
  return []
}

/** "1.2 million" is in a passage with 1,200,000, with "1.2 million", and with 1.2 in a column of millions. */
function findNumber(numbers: EvidenceNumbers, value: number, { scales, isRounded }: NumberFigure): readonly number[] {
  const scaled = scales.length === 0 ? [value] : scales.map((scale) => exact(value * scale))
  const same = scaled.flatMap((one) => numbers.values.get(one) ?? [])
  const unscaled = (scales.length === 0 ? numbers.mantissas : numbers.plain).get(value) ?? []
  const found = [...same, ...unscaled]
  const mayBeRounded = isRounded || (scales.length > 0 && !Number.isInteger(value))
  if (found.length > 0 || !mayBeRounded) return found
  const steps = scales.length === 0 ? [1] : scales
  return steps.flatMap((scale) => findRounded(numbers, exact(value * scale), precisionOf(value) * scale))
}

/** The segments of the smallest number that is `value` after rounding to `precision`. */
function findRounded({ sorted, values }: EvidenceNumbers, value: number, precision: number): readonly number[] {
  const least = value - precision / 2
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (sorted[middle]! < least) from = middle + 1
    else to = middle
  }
  const nearest = sorted[from]
  return nearest !== undefined && nearest <= value + precision / 2 ? (values.get(nearest) ?? []) : []
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

/** Most numbers of a sentence that are added; it bounds the time. */
const maximumOperands = 12

/** The values of the figures that were found; empty where they are too many. */
function operandsOf(figures: readonly Figure[], found: readonly boolean[]): number[] {
  const operands = figures.flatMap((figure, index) => (found[index] ? [plainValueOf(figure) ?? []].flat() : []))
  return operands.length > maximumOperands ? [] : operands
}

/**
 * Whether a number is computed from others of its sentence that were found: their sum, or the sum or difference of two. The sentence must
 * show it, as in "together 30", so that the reader can check it.
 */
function isDerived(figure: Figure, operands: readonly number[]): boolean {
  const value = plainValueOf(figure)
  if (value === null || operands.length < 2) return false
  const isValue = (result: number) => exact(result) === value
  if (isValue(operands.reduce((sum, operand) => sum + operand, 0))) return true
  return operands.some((left, at) =>
    operands.slice(at + 1).some((right) => isValue(left + right) || isValue(Math.abs(left - right))),
  )
}

/** The value of a number with one reading and no scale. */
function plainValueOf(figure: Figure): number | null {
  if (figure.type !== 'number' || figure.scales.length > 0 || figure.readings.length !== 1) return null
  const [reading] = figure.readings
  return reading!.length === 1 ? reading![0]! : null
}

/** A name is there with its last word and half of all, or with more than half: passages leave out first names and titles. */
function hasName(passage: Evidence, { words, keys }: Claims['names'][number]): boolean {
  if (words.length === 1 && passage.abbreviations.has(words[0]!)) return true
  const initials = words.map((word) => word[0]).join('')
  if (words.length > 1 && passage.words.has(initials)) return true
  const found = keys.map((wordKeys) => hasWord(passage, wordKeys))
  const count = found.filter(Boolean).length
  return found.at(-1) === true ? count * 2 >= words.length : count * 2 > words.length
}
