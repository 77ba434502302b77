import { existsSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { readJsonLines } from '../test/harness/shared-data.ts'
import {
  type Claims,
  compareClaims,
  concludeSupport,
  type Evidence,
  readClaims,
  readEvidence,
} from '../src/platform/evidence/index.ts'
import { splitSentences } from '../src/platform/language/index.ts'
import type { Evaluation, Measure } from './measure.ts'

/**
 * The check of citations in German, Chinese and Vietnamese, and across languages, on parallel paragraphs. Sentences of a paragraph must
 * be supported by it, in their own language and in another, and not by the paragraph that shares most words with them.
 */

const paragraphSchema = z.object({ id: z.string(), title: z.string(), text: z.string() })
const languages = ['de', 'zh', 'vi']
/** Shorter sentences have too few words; counted in words, or in pairs of characters for Chinese. */
const minimumWords = 8
/** The time of the evaluation: every second sentence is enough. */
const everyNth = 2

export const citationsInLanguages: Evaluation = {
  title: 'Citations in other languages',
  folder: 'retrieval',
  run: async (folder) => {
    const sets = languages.map((language) => path.join(folder, `xquad-${language}`, 'corpus.jsonl'))
    if (!sets.every((file) => existsSync(file))) return []
    const paragraphs = new Map(languages.map((language, index) => [language, readParagraphs(sets[index]!)]))
    return languages.flatMap((language, index) => {
      const foreign = languages[(index + 1) % languages.length]!
      return measureLanguage(language, paragraphs.get(language)!, { foreign, translated: paragraphs.get(foreign)! })
    })
  },
}

interface Paragraph {
  id: string
  text: string
  evidence: Evidence
}

/** By the part of the id that parallel paragraphs share. */
function readParagraphs(file: string): Map<string, Paragraph> {
  const rows = readJsonLines(file).map((row) => paragraphSchema.parse(row))
  return new Map(
    rows.map(({ id, title, text }) => [
      id.slice(id.indexOf('-') + 1),
      { id, text, evidence: readEvidence({ title, text }) },
    ]),
  )
}

function measureLanguage(
  language: string,
  paragraphs: ReadonlyMap<string, Paragraph>,
  { foreign, translated }: { foreign: string; translated: ReadonlyMap<string, Paragraph> },
): Measure[] {
  let sentences = 0
  let dropped = 0
  let caught = 0
  let droppedAbroad = 0
  for (const [key, paragraph] of paragraphs) {
    for (const [index, { text }] of splitSentences(paragraph.text).entries()) {
      const claims = readClaims(text)
      if (index % everyNth !== 0 || claims.words.length < minimumWords) continue
      sentences++
      if (!isKept(claims, paragraph.evidence)) dropped++
      if (!isKept(claims, mostSimilar(claims, paragraph, paragraphs.values()))) caught++
      if (!isKept(claims, translated.get(key)!.evidence)) droppedAbroad++
    }
  }
  const describe = (name: string, count: number, bound: Measure['bound']) => ({
    name: `${name}, ${sentences} sentences`,
    value: count / sentences,
    bound,
    baseline: null,
  })
  return [
    describe(`${language}: right paragraph dropped`, dropped, { atMost: 0.03 }),
    describe(`${language}: most similar other paragraph caught`, caught, { atLeast: 0.95 }),
    describe(`${language}: right paragraph in ${foreign} dropped`, droppedAbroad, { atMost: 0.15 }),
  ]
}

function isKept(claims: Claims, evidence: Evidence): boolean {
  return concludeSupport(claims, [compareClaims(claims, evidence)]).verdict !== 'unsupported'
}

function mostSimilar(claims: Claims, own: Paragraph, all: Iterable<Paragraph>): Evidence {
  let best = own
  let most = -1
  for (const other of all) {
    if (other === own) continue
    const found = claims.words.filter((keys) => other.evidence.words.has(keys[0]!)).length
    if (found > most) [best, most] = [other, found]
  }
  return best.evidence
}
