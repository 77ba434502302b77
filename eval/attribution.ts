import path from 'node:path'
import { z } from 'zod'
import { readJsonLines } from '../test/harness/shared-data.ts'
import { type CitablePassage, createAnswerCitations } from '../src/chat/chat/citations/citation-rewriter.ts'
import { articleOf, type Half, inHalf } from './half.ts'
import type { Evaluation, Measure } from './measure.ts'
import { passage } from './statement.ts'

/**
 * Markers that Portico adds to sentences without one. Each sentence is an answer to its own question; the passages are the one that it was
 * written from, that which shares most words with it, and others of the same half. Without the first, no marker is right.
 */
export const attribution: Evaluation = { title: 'Attribution', folder: '.', run }

const textSchema = z.object({ title: z.string(), text: z.string() })
const itemSchema = z.object({
  sentence: z.string(),
  passage_supporting: textSchema,
  passage_other: textSchema,
  passage_remainder: z.string().nullable(),
  altered_sentence: z.string().nullable(),
  kind: z.string().nullable(),
})
const paragraphSchema = z.object({ id: z.string(), title: z.string(), text: z.string() })

/** Passages of one answer, and the distance in the set between those that are not chosen by their words. */
const passagesOfAnswer = 12
const step = 7

/** What a model writes around its statements: no passage is its source. */
const phrases = [
  'Here is a summary of the most important points.',
  'I hope this helps! Let me know if you have further questions.',
  'Thank you for your question about this topic.',
  'Based on the passages, the answer is as follows.',
  'The provided files do not contain information about this question.',
  'The passages do not mention the exact date of the event.',
  'There is no information in the documents about the number of people.',
  'This information is based on the documents that were provided.',
  'In summary, there are several important aspects to consider.',
  'It is important to note that this may change over time.',
  'Which of these meanings is intended?',
  'Yes, that is correct.',
  'I could not find the name of the author in the uploaded files.',
  'Gerne helfe ich Ihnen bei weiteren Fragen weiter.',
  'Die Dokumente enthalten keine Angaben zum Namen der Stadt.',
  'Zusammenfassend lässt sich sagen, dass es mehrere wichtige Punkte gibt.',
  'Les documents ne contiennent aucune information sur la date.',
  'Voici un résumé des points les plus importants.',
  '文件中没有关于这个问题的信息。',
  '希望这些信息对您有所帮助。',
  'Các tài liệu không có thông tin về câu hỏi này.',
]

async function run(folder: string, half: Half | undefined): Promise<Measure[]> {
  const items = readJsonLines(path.join(folder, 'citations', 'clapnq.jsonl'))
    .map((row) => itemSchema.parse(row))
    .filter((item) => inHalf(item.passage_supporting.title, half))
  const measures = await measureItems(items)
  for (const language of ['de', 'zh', 'vi']) measures.push(...(await measureLanguage(folder, language, half)))
  const given = items.slice(0, 30).map((item) => toPassage(item.passage_supporting))
  let marked = 0
  for (const phrase of phrases) if ((await attribute(phrase, given)).length > 0) marked++
  return [...measures, describe(`phrases, ${phrases.length}, with a marker`, marked / phrases.length, { atMost: 0 })]
}

async function measureItems(items: readonly z.infer<typeof itemSchema>[]): Promise<Measure[]> {
  const outcomes = { right: 0, wrong: 0, none: 0 }
  let strayed = 0
  let altered = 0
  let believed = 0
  for (const [index, item] of items.entries()) {
    const own = toPassage(item.passage_supporting)
    const others = [
      toPassage(item.passage_other),
      ...Array.from({ length: passagesOfAnswer - 2 }, (_, at) =>
        toPassage(items[(index + (at + 1) * step) % items.length]!.passage_supporting),
      ),
    ].filter(({ title }) => title !== own.title)
    const place = index % (others.length + 1)
    const marked = await attribute(withQuotes(item.sentence), others.toSpliced(place, 0, own))
    if (marked.length === 0) outcomes.none++
    else if (marked.every((title) => title === own.title)) outcomes.right++
    else outcomes.wrong++
    const remainder =
      item.passage_remainder === null ? [] : [passage(`${own.title} 2`, withQuotes(item.passage_remainder))]
    if ((await attribute(withQuotes(item.sentence), [...others, ...remainder])).length > 0) strayed++
    if (item.altered_sentence === null || item.kind === 'name') continue
    altered++
    if ((await attribute(withQuotes(item.altered_sentence), others.toSpliced(place, 0, own))).length > 0) believed++
  }
  const { right, wrong } = outcomes
  const count = items.length
  return [
    describe(`markers on the right passage, of ${right + wrong} added`, right / (right + wrong), { atLeast: 0.98 }),
    describe(`sentences with the right marker, ${count} sentences`, right / count, { atLeast: 0.9 }),
    describe(`sentences without their passage that get a marker, ${count} sentences`, strayed / count, {
      atMost: 0.05,
    }),
    describe(`sentences with a wrong number that get a marker, ${altered} sentences`, believed / altered, {
      atMost: 0.02,
    }),
  ]
}

/** Sentences of paragraphs themselves, among paragraphs of the same document and of others. */
async function measureLanguage(folder: string, language: string, half: Half | undefined): Promise<Measure[]> {
  const paragraphs = readJsonLines(path.join(folder, 'retrieval', `xquad-${language}`, 'corpus.jsonl'))
    .map((row) => paragraphSchema.parse(row))
    .filter(({ id }) => inHalf(articleOf(id), half))
  let right = 0
  let wrong = 0
  let count = 0
  for (let index = 0; index + passagesOfAnswer < paragraphs.length; index += 3) {
    const given = paragraphs.slice(index, index + passagesOfAnswer).map(({ id, text }) => passage(id, text))
    const own = given[5]!
    const sentence = /[^.。!?！？\n]{30,200}[.。]/u.exec(own.text)?.[0].trim()
    if (sentence === undefined) continue
    count++
    const marked = await attribute(sentence, given)
    if (marked.length === 0) continue
    if (marked.every((title) => title === own.title)) right++
    else wrong++
  }
  return [
    describe(`${language}: markers on the right passage, of ${right + wrong} added`, right / (right + wrong), {
      atLeast: 0.97,
    }),
    describe(`${language}: sentences with the right marker, ${count} sentences`, right / count, { atLeast: 0.8 }),
  ]
}

function describe(name: string, value: number, bound: Measure['bound']): Measure {
  return { name, value, bound, baseline: null }
}

const toPassage = ({ title, text }: z.infer<typeof textSchema>) => passage(title, withQuotes(text))

/** The set writes quotes as two backticks, which are code in Markdown. */
const withQuotes = (text: string) => text.replaceAll('``', '“').replaceAll("''", '”')

/** The titles of the passages that the markers of an answer name. */
async function attribute(answer: string, given: readonly CitablePassage[]): Promise<string[]> {
  const citations = createAnswerCitations({ inline: true, attributes: true })
  citations.addPassages(given)
  const signal = new AbortController().signal
  for await (const _ of citations.push(answer, signal));
  citations.end()
  return citations.cited().map(({ source }) => source.title)
}
