import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { chunksOf, createBenchIndex, paragraphsOf, pipelineChunkSize } from '../bench/retrieval/bench-index.ts'
import { loadEvaluationSets } from '../bench/retrieval/evaluation-sets.ts'
import { formatSources } from '../src/chat/chat/context/prompt.ts'
import { createSpaceId } from '../src/platform/kernel/index.ts'
import {
  createDocumentReader,
  createHashingEmbedder,
  createRetrieval,
  type Passage,
} from '../src/documents/retrieval/index.ts'
import { estimateTokens } from '../src/gateway/tokens/index.ts'
import type { Evaluation, Measure } from './measure.ts'
import { packForPrompt } from './prompt-passages.ts'
import { articlesOf, readXquadSet, xquadFolders } from './xquad.ts'

/** `maximumPassages` of a new Space. */
const passagesPerSearch = 30
/** Tokens of the passages of one search: a small room, and one near the default. */
const rooms = [2_000, 6_000]

interface PassageSet {
  name: string
  documents: { name: string; text: string }[]
  questions: { text: string; wanted: string[] }[]
}

/**
 * Whether the prompt has the text that answers, with neighbours and joined passages, compared with the single chunks of the same search in the
 * same room. Answers near the border of a chunk need the text around them.
 */
export const passages: Evaluation = {
  title: 'Passages',
  folder: 'retrieval',
  async run(folder) {
    const sets = [...excerptSets(folder), ...xquadFolders(folder).map(readArticles)]
    const measures: Measure[] = []
    for (const set of sets) measures.push(...(await measureSet(set)))
    return measures
  },
}

/** Exact passages of long documents. */
function excerptSets(folder: string): PassageSet[] {
  if (!existsSync(path.join(folder, 'index.json'))) return []
  const sets = loadEvaluationSets(folder).filter(({ spans, files }) => spans.length > 0 && files.length > 0)
  return sets.map(({ name, files, queries, spans }) => ({
    name,
    documents: files.map((file) => ({ name: `${file.id}.md`, text: readFileSync(file.path, 'utf8') })),
    questions: queries.map(({ id, text }) => ({
      text,
      wanted: spans.filter(({ queryId }) => queryId === id).map((span) => span.text),
    })),
  }))
}

/** Characters before and after the answer that count as well: about half of its sentence. */
const around = 40

function readArticles(folder: string): PassageSet {
  const set = readXquadSet(folder)
  const documents = articlesOf(set).map((paragraphs, index) => ({
    name: `article ${index}.txt`,
    text: paragraphs.map(oneLine).join('\n\n'),
  }))
  const questions = set.questions.flatMap(({ text, paragraph, answer }) => {
    const whole = oneLine(set.paragraphs[paragraph]!.text)
    const at = whole.indexOf(answer)
    if (at < 0) return []
    return [{ text, wanted: [whole.slice(Math.max(0, at - around), at + answer.length + around)] }]
  })
  return { name: set.name, documents, questions }
}

async function measureSet({ name, documents, questions }: PassageSet): Promise<Measure[]> {
  const embedder = createHashingEmbedder()
  await using bench = await createBenchIndex(embedder)
  const retrieval = createRetrieval({ index: bench.index, embedder })
  const reader = createDocumentReader(bench.corpus)
  const scope = { organisationId: bench.organisationId, spaceId: createSpaceId(), filter: null }
  for (const { name: file, text } of documents) {
    await bench.addDocument(scope.spaceId, file, await chunksOf(paragraphsOf(text), embedder, pipelineChunkSize))
  }
  const counts = rooms.map((room) => ({ room, joined: 0, single: 0 }))
  const signal = AbortSignal.timeout(600_000)
  let total = 0
  for (const { text, wanted } of questions) {
    const found = await retrieval.search({ ...scope, query: text, limit: passagesPerSearch, signal })
    total += wanted.length
    for (const count of counts) {
      const { room } = count
      const joined = await packForPrompt(reader, scope, { found, room }, signal)
      count.joined += countIn(formatSources(joined), wanted)
      count.single += countIn(formatSources(takeSingle(found, room)), wanted)
    }
  }
  return counts.map(({ room, joined, single }) => ({
    name: `${name}: the answer is in ${room} tokens, ${total} passages`,
    value: joined / total,
    bound: { atLeast: single / total },
    baseline: { name: 'single chunks', value: single / total },
  }))
}

/** Chunks in the order of rank; one that is too long leaves room for shorter ones. */
function takeSingle(found: readonly Passage[], room: number): Passage[] {
  let left = room
  return found.filter((chunk) => {
    const size = estimateTokens(formatSources([chunk])).estimate
    if (size > left) return false
    left -= size
    return true
  })
}

function countIn(prompt: string, wanted: readonly string[]): number {
  const text = lettersOf(prompt)
  return wanted.filter((one) => text.includes(lettersOf(one))).length
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
const lettersOf = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')
