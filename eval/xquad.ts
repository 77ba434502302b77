import { readdirSync } from 'node:fs'
import path from 'node:path'
import { readJsonLines } from '../test/harness/shared-data.ts'
import { chunksOf, createBenchIndex, paragraphsOf, pipelineChunkSize } from '../bench/retrieval/bench-index.ts'
import { createBoundary, fencePassages } from '../src/chat/chat/context/prompt.ts'
import { composeUncertain, readPassages } from '../src/platform/evidence/index.ts'
import { createSpaceId } from '../src/platform/kernel/index.ts'
import { composeAnswer } from '../src/gateway/providers/offline/offline-provider.ts'
import { createHashingEmbedder, createRetrieval, type Passage } from '../src/documents/retrieval/index.ts'
import { formerQuotes } from './former-quotes.ts'
import type { Evaluation, Measure } from './measure.ts'
import { readQuotes } from './read-quotes.ts'

/** `maximumPassages` of a new Space. */
const passagesPerAnswer = 30
/** Each fourth question, so that three languages take a minute. */
const questionStep = 4
/** XQuAD has five consecutive paragraphs of each article. Sets without titles are divided by that. */
const paragraphsPerArticle = 5

interface XquadSet {
  name: string
  paragraphs: { id: string; title: string; text: string }[]
  /** With the paragraph that answers, and the words of the answer. */
  questions: { text: string; paragraph: number; answer: string }[]
}

/**
 * The offline model's answers to XQuAD, from the search in a Space to the text: does the first quote hold the answer; is nothing quoted
 * where all paragraphs of the answering article are left out.
 */
export const xquad: Evaluation = {
  title: 'offline model on xquad',
  folder: 'retrieval',
  async run(folder) {
    const measures: Measure[] = []
    for (const place of xquadFolders(folder)) measures.push(...(await measureSet(readXquadSet(place))))
    return measures
  },
}

async function measureSet(set: XquadSet): Promise<Measure[]> {
  const now = { questions: 0, held: 0, quoted: 0, quotedWithout: 0 }
  const former = { held: 0, quoted: 0, quotedWithout: 0 }
  for await (const { question, passages, otherPassages } of searchXquadPassages(set)) {
    const answered = await quotesOf(question.text, passages)
    const without = await quotesOf(question.text, otherPassages)
    now.questions++
    if (answered[0]?.includes(question.answer)) now.held++
    if (answered.length > 0) now.quoted++
    if (without.length > 0) now.quotedWithout++
    const formerAnswer = formerQuotes(question.text, numbered(passages))
    if (formerAnswer[0]?.text.includes(question.answer)) former.held++
    if (formerAnswer.length > 0) former.quoted++
    if (formerQuotes(question.text, numbered(otherPassages)).length > 0) former.quotedWithout++
  }
  const measure = (name: string, count: keyof typeof former, bound: Measure['bound']): Measure => ({
    name: `${set.name}: ${name}, ${now.questions} questions`,
    value: now[count] / now.questions,
    bound,
    baseline: { name: 'former rule', value: former[count] / now.questions },
  })
  return [
    measure('the first quote holds the answer', 'held', { atLeast: 0.82 }),
    measure('quoted', 'quoted', { atLeast: 0.95 }),
    measure('quoted without the article', 'quotedWithout', { atMost: 0.4 }),
  ]
}

const numbered = (passages: readonly Passage[]) => passages.map(({ text }, index) => ({ id: index + 1, text }))

/** The quotes of the offline model's answer, as the chat asks it; none where it states that they may not answer. */
async function quotesOf(question: string, passages: readonly Passage[]): Promise<string[]> {
  const answer = await composeAnswer([
    { role: 'user', content: `${fencePassages(passages, createBoundary())}\n\n${question}` },
  ])
  return answer.startsWith(composeUncertain(question)) ? [] : readQuotes(answer)
}

/** What the search gives for each question, with and without the article that answers. */
async function* searchXquadPassages(set: XquadSet) {
  const embedder = createHashingEmbedder()
  await using bench = await createBenchIndex(embedder)
  const retrieval = createRetrieval({ index: bench.index, embedder })
  const spaceId = createSpaceId()
  const paragraphOf = new Map<string, number>()
  for (const [index, { title, text }] of set.paragraphs.entries()) {
    const chunks = await chunksOf(paragraphsOf(text), embedder, pipelineChunkSize)
    paragraphOf.set(await bench.addDocument(spaceId, `${title === '' ? 'text' : title}.txt`, chunks), index)
  }
  for (const question of set.questions) {
    const found = await retrieval.search({
      organisationId: bench.organisationId,
      spaceId,
      filter: null,
      query: question.text,
      limit: passagesPerAnswer + paragraphsPerArticle,
      signal: AbortSignal.timeout(60_000),
    })
    const article = articleOf(set, question.paragraph)
    const others = found.filter(({ documentId }) => articleOf(set, paragraphOf.get(documentId)!) !== article)
    yield {
      question,
      passages: found.slice(0, passagesPerAnswer),
      otherPassages: others.slice(0, passagesPerAnswer),
    }
  }
}

/** The same as evidence, for the fit of the weights. */
export async function* searchXquad(set: XquadSet) {
  for await (const { question, passages, otherPassages } of searchXquadPassages(set)) {
    yield {
      withArticle: await readPassages(question.text, numbered(passages)),
      withoutArticle: await readPassages(question.text, numbered(otherPassages)),
    }
  }
}

function articleOf({ paragraphs }: XquadSet, paragraph: number): string | number {
  const { title } = paragraphs[paragraph]!
  return title === '' ? Math.floor(paragraph / paragraphsPerArticle) : title
}

/** The texts of the paragraphs of each article. */
export function articlesOf(set: XquadSet): string[][] {
  const articles = new Map<string | number, string[]>()
  for (const [index, { text }] of set.paragraphs.entries()) {
    const key = articleOf(set, index)
    articles.set(key, [...(articles.get(key) ?? []), text])
  }
  return [...articles.values()]
}

export function xquadFolders(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.startsWith('xquad-'))
  return names.sort().map((name) => path.join(folder, name))
}

export function readXquadSet(folder: string): XquadSet {
  const paragraphs = readJsonLines<XquadSet['paragraphs'][number]>(path.join(folder, 'corpus.jsonl'))
  const places = new Map(paragraphs.map(({ id }, index) => [id, index]))
  const answers = new Map(
    readJsonLines<{ query_id: string; doc_id: string; text: string }>(path.join(folder, 'answers.jsonl')).map(
      (answer) => [answer.query_id, answer],
    ),
  )
  const questions = readJsonLines<{ id: string; text: string }>(path.join(folder, 'queries.jsonl')).flatMap(
    ({ id, text }, index) => {
      const answer = answers.get(id)
      if (answer === undefined || index % questionStep !== 0) return []
      return [{ text, paragraph: places.get(answer.doc_id)!, answer: answer.text }]
    },
  )
  return { name: path.basename(folder), paragraphs, questions }
}
