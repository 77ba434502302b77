import path from 'node:path'
import { z } from 'zod'
import { readJsonLines } from '../test/harness/shared-data.ts'
import {
  type Evidence,
  type EvidenceText,
  compareClaims,
  concludeSupport,
  readClaims,
  readEvidence,
} from '../src/platform/evidence/index.ts'
import { isFunctionWord, splitSentences, tokenize } from '../src/platform/language/index.ts'
import { selectQuote } from '../src/chat/chat/citations/select-quote.ts'
import type { Evaluation, Measure } from './measure.ts'

/**
 * Whether the check of citations keeps markers of passages that support a sentence, and finds those of others. Runs the function
 * that the answers of a Space use, with the title of each passage.
 */

const passageSchema = z.object({ title: z.string(), text: z.string() })
const alterationSchema = z.object({ kind: z.string(), altered_sentence: z.string() })
const itemSchema = z.object({
  sentence: z.string(),
  passage_supporting: passageSchema,
  passage_other: passageSchema,
  passage_remainder: z.string().nullable(),
  kind: z.string().nullable(),
  altered_sentence: z.string().nullable(),
  more_altered: z.array(alterationSchema),
})
type Item = z.infer<typeof itemSchema>

/** A sentence, a passage, and a group: `true` for pairs that belong together, otherwise what is wrong with them. */
interface Pair {
  group: 'true' | 'swapped' | 'remainder' | 'figure' | 'name'
  sentence: string
  passage: EvidenceText
}

export const citations: Evaluation = {
  title: 'Citations',
  folder: 'citations',
  run: async (folder) => measureItems(readItems(path.join(folder, 'clapnq.jsonl'))),
}

function readItems(file: string): Item[] {
  return readJsonLines(file).map((row) => itemSchema.parse(row))
}

/** The measures of a set of sentences; exported to compare halves of it. */
export function measureItems(items: readonly Item[]): Measure[] {
  const pairs = items.flatMap(pairsOf)
  const judged = judgeAll(pairs)
  const threshold = thresholdForDropRate(
    judged,
    share(judged, 'true', ({ kept }) => !kept),
  )
  const describe = (name: string, group: Pair['group'], bound: Measure['bound']): Measure => {
    const count = judged.filter((pair) => pair.group === group).length
    const counts = group === 'true' ? 'dropped' : 'caught'
    return {
      name: `${name} ${counts}, ${count} sentences`,
      value: share(judged, group, ({ kept }) => !kept),
      bound,
      baseline: {
        name: `share of words below ${threshold.toFixed(2)}`,
        value: share(judged, group, (pair) => pair.wordShare < threshold),
      },
    }
  }
  return [
    describe('citations of the right passage', 'true', { atMost: 0.03 }),
    describe('citations of another passage', 'swapped', { atLeast: 0.98 }),
    describe('altered numbers and dates', 'figure', { atLeast: 0.98 }),
    describe('altered names', 'name', { atLeast: 0.85 }),
    describe('citations of other sentences of the right passage', 'remainder', { atLeast: 0.85 }),
    ...measureQuotes(items),
  ].filter(({ value }) => !Number.isNaN(value))
}

/** Quotes of passages whose supporting sentences are known. */
function measureQuotes(items: readonly Item[]): Measure[] {
  let count = 0
  let right = 0
  let only = 0
  for (const { sentence, passage_supporting: passage, passage_remainder: remainder } of items) {
    if (remainder === null) continue
    const others = plain(remainder)
    const isOther = (text: string) => others.includes(plain(text))
    const quoted = splitSentences(selectQuote(passage.text, sentence).text)
    count++
    if (quoted.some(({ text }) => !isOther(text))) right++
    if (!quoted.some(({ text }) => isOther(text))) only++
  }
  const describe = (name: string, met: number, atLeast: number): Measure => {
    return { name: `${name}, ${count} sentences`, value: met / count, bound: { atLeast }, baseline: null }
  }
  return [
    describe('quotes with a supporting sentence', right, 0.97),
    describe('quotes of supporting sentences only', only, 0.95),
  ]
}

const plain = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

function pairsOf(item: Item): Pair[] {
  const { sentence, passage_supporting: own, passage_other: other, passage_remainder: remainder } = item
  const altered = item.more_altered.map(({ kind, altered_sentence: text }) => ({ kind, text }))
  if (item.kind !== null && item.altered_sentence !== null)
    altered.push({ kind: item.kind, text: item.altered_sentence })
  return [
    { group: 'true', sentence, passage: own },
    { group: 'swapped', sentence, passage: other },
    ...(remainder === null
      ? []
      : [{ group: 'remainder' as const, sentence, passage: { title: own.title, text: remainder } }]),
    ...altered.map(({ kind, text }) => ({
      group: kind === 'name' ? ('name' as const) : ('figure' as const),
      sentence: text,
      passage: own,
    })),
  ]
}

interface Judged {
  group: Pair['group']
  kept: boolean
  wordShare: number
}

function judgeAll(pairs: readonly Pair[]): Judged[] {
  const evidence = new Map<string, Evidence>()
  return pairs.map(({ group, sentence, passage }) => {
    const read = evidence.get(passage.text) ?? readEvidence(passage)
    evidence.set(passage.text, read)
    const claims = readClaims(sentence)
    const { verdict } = concludeSupport(claims, [compareClaims(claims, read)])
    return { group, kept: verdict !== 'unsupported', wordShare: wordShare(sentence, passage) }
  })
}

/** The baseline: the share of a sentence's words, without function words, that the passage or its title has. */
function wordShare(sentence: string, { title, text }: EvidenceText): number {
  const known = new Set(tokenize(`${title}\n${text}`, { singleCharacters: true }))
  const words = [...new Set(tokenize(sentence, { singleCharacters: true }))].filter(
    (word) => !isFunctionWord(word, 'en'),
  )
  return words.filter((word) => known.has(word)).length / Math.max(1, words.length)
}

/** The threshold of the baseline that drops as many right citations as the check, at least. */
function thresholdForDropRate(judged: readonly Judged[], rate: number): number {
  const shares = judged.filter(({ group }) => group === 'true').map(({ wordShare }) => wordShare)
  shares.sort((left, right) => left - right)
  return shares[Math.ceil(rate * shares.length)] ?? 0
}

function share(judged: readonly Judged[], group: Pair['group'], holds: (pair: Judged) => boolean): number {
  const pairs = judged.filter((pair) => pair.group === group)
  return pairs.filter(holds).length / pairs.length
}
