import { readFileSync } from 'node:fs'
import path from 'node:path'
import { readJsonLines } from '../test/harness/shared-data.ts'
import { comparedWords, readPassages, scoreAnswerability } from '../src/platform/evidence/index.ts'
import { areaUnderRoc } from './area-under-roc.ts'
import type { Evaluation } from './measure.ts'

interface Item {
  question: string
  answerable: boolean
  passage: { title: string; text: string }
}

/** Does the passage hold the answer? The passages are the corpus from which the rarity of words is known. */
export const answerability: Evaluation = {
  title: 'answerability',
  folder: 'answerability',
  async run(folder) {
    const items = await readAnswerabilityItems(folder)
    const scored = items.map(({ isAnswerable, evidence }) => ({
      isPositive: isAnswerable,
      score: scoreAnswerability(evidence),
    }))
    const baseline = items.map(({ isAnswerable, bm25 }) => ({ isPositive: isAnswerable, score: bm25 }))
    return [
      {
        name: `AUROC, ${items.length} questions with a passage on their topic`,
        value: areaUnderRoc(scored),
        bound: { atLeast: 0.8 },
        baseline: { name: 'BM25 of question and passage', value: areaUnderRoc(baseline) },
      },
    ]
  },
}

export async function readAnswerabilityItems(folder: string) {
  const index = JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as { sets: { file: string }[] }
  const items = index.sets.flatMap(({ file }) => readJsonLines<Item>(path.join(folder, file)))
  const texts = items.map(({ passage }) => `${passage.title}\n${passage.text}`)
  const scoreBm25 = createBm25(texts)
  const documents = texts.map((text) => new Set(comparedWords(text, 'en')))
  const counts = countDocuments(documents)
  const rarity = (word: string) => rarityOf(counts.get(word) ?? 0, items.length)
  return Promise.all(
    items.map(async ({ question, answerable, passage }, at) => ({
      isAnswerable: answerable,
      evidence: await readPassages(question, [{ id: 1, ...passage }], { rarity }),
      bm25: scoreBm25(question, at),
    })),
  )
}

function countDocuments(documents: readonly ReadonlySet<string>[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const words of documents) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

function rarityOf(count: number, documents: number): number {
  return Math.log(1 + (documents - count + 0.5) / (count + 0.5))
}

/** The stated baseline: k1 1.2, b 0.75, Unicode words in lower case, no stop list, no stemming. */
function createBm25(texts: readonly string[]): (question: string, at: number) => number {
  const documents = texts.map(plainWords)
  const counts = countDocuments(documents.map((words) => new Set(words)))
  const averageLength = documents.reduce((sum, { length }) => sum + length, 0) / documents.length
  return (question, at) => {
    const words = documents[at]!
    let score = 0
    for (const word of plainWords(question)) {
      const frequency = words.filter((other) => other === word).length
      const damped = frequency + 1.2 * (1 - 0.75 + (0.75 * words.length) / averageLength)
      score += (rarityOf(counts.get(word) ?? 0, texts.length) * frequency * 2.2) / damped
    }
    return score
  }
}

function plainWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
}
