import type { GoldenResultBody } from '../../contract/golden-runs.ts'
import { type GoldenSettingsBody, passingMeasures } from '../../contract/golden-settings.ts'
import type { NamedDocument } from '../../documents/documents/index.ts'
import { comparedWords, hasFact, isNoAnswer, readEvidence } from '../../platform/evidence/index.ts'
import { languageOfText, splitSentences } from '../../platform/language/index.ts'
import type { GoldenContent } from './golden-question.ts'

/** What one answer is worth, by the definitions of docs/use/golden-questions.md. Pure and deterministic. */

export interface GivenAnswer {
  /** Without markers. */
  text: string
  /** Documents of the passages that the model received, in the order of their best passage. */
  retrieved: readonly NamedDocument[]
  cited: readonly NamedDocument[]
  milliseconds: number
}

export type QuestionMeasures = NonNullable<GoldenResultBody['measures']>

export interface MeasuredAnswer {
  measures: QuestionMeasures
  /** Whether the answer has each expected fact, in their order. */
  facts: boolean[]
  /** Empty: the question passed. */
  failedMeasures: GoldenResultBody['failedMeasures']
}

/** Only the beginning of a longer answer is compared: bounds the time, at some milliseconds for each expected fact. UTF-16 units. */
const comparedUnits = 20_000
/** An answer that states that there is none does so at its beginning. */
const abstentionSentences = 3

export function measureAnswer(
  { expectedDocuments, expectedFacts, mustAbstain }: GoldenContent,
  given: GivenAnswer,
  passing: GoldenSettingsBody['passing'],
): MeasuredAnswer {
  const text = given.text.slice(0, comparedUnits).toWellFormed()
  const evidence = readEvidence({ title: '', text })
  const facts = expectedFacts.map((fact) => hasFact(evidence, fact))
  const isAbstention = given.cited.length === 0 && statesNoAnswer(text)
  const measures: QuestionMeasures = {
    ...measureRetrieval(expectedDocuments, given.retrieved),
    ...measureCitations(expectedDocuments, given.cited),
    factShare: share(facts.filter(Boolean).length, facts.length),
    tokenF1: facts.length === 0 ? null : tokenF1(text, expectedFacts.join('\n')),
    isAbstention,
    milliseconds: Math.round(given.milliseconds),
  }
  const below = passingMeasures.filter((name) => (measures[name] ?? 1) < passing[name])
  return {
    measures,
    facts,
    failedMeasures: [...(isAbstention === mustAbstain ? [] : ['abstention' as const]), ...below],
  }
}

function measureRetrieval(expected: readonly NamedDocument[], retrieved: readonly NamedDocument[]) {
  if (expected.length === 0) return { retrievalHit: null, retrievalRecall: null, reciprocalRank: null }
  const wanted = idsOf(expected)
  const first = retrieved.findIndex(({ id }) => wanted.has(id))
  return {
    retrievalHit: first >= 0,
    retrievalRecall: share(countOf(wanted, retrieved), wanted.size),
    reciprocalRank: first < 0 ? 0 : 1 / (first + 1),
  }
}

function measureCitations(expected: readonly NamedDocument[], cited: readonly NamedDocument[]) {
  if (expected.length === 0) return { citationPrecision: null, citationRecall: null }
  const wanted = idsOf(expected)
  const right = countOf(wanted, cited)
  return { citationPrecision: share(right, cited.length) ?? 0, citationRecall: share(right, wanted.size) }
}

const idsOf = (documents: readonly NamedDocument[]) => new Set(documents.map(({ id }) => id))
const countOf = (wanted: ReadonlySet<string>, found: readonly NamedDocument[]) =>
  [...idsOf(found)].filter((id) => wanted.has(id)).length
const share = (part: number, whole: number) => (whole === 0 ? null : part / whole)

function statesNoAnswer(text: string): boolean {
  return splitSentences(text)
    .slice(0, abstentionSentences)
    .some(({ text: sentence }) => isNoAnswer(sentence))
}

/** Harmonic mean of precision and recall of the words of both texts, each as often as it occurs; words are compared by stem. */
function tokenF1(answer: string, expected: string): number {
  const language = languageOfText(expected)
  const left = comparedWords(answer, language)
  const right = comparedWords(expected, language)
  const counts = new Map<string, number>()
  for (const word of right) counts.set(word, (counts.get(word) ?? 0) + 1)
  let common = 0
  for (const word of left) {
    const rest = counts.get(word) ?? 0
    if (rest > 0) common++
    counts.set(word, rest - 1)
  }
  return left.length + right.length === 0 ? 0 : (2 * common) / (left.length + right.length)
}
