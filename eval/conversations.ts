import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { readJsonLines } from '../test/harness/shared-data.ts'
import {
  chunksOf,
  createBenchIndex,
  paragraphsOf,
  pipelineChunkSize,
  type BenchIndex,
} from '../bench/retrieval/bench-index.ts'
import { createPlainBm25 } from '../bench/retrieval/plain-bm25.ts'
import { composeQuery } from '../src/chat/chat/search-query.ts'
import { createSpaceId, type SpaceId } from '../src/platform/kernel/index.ts'
import { createHashingEmbedder, createRetrieval } from '../src/documents/retrieval/index.ts'
import type { Evaluation, Measure } from './measure.ts'

/**
 * Queries from conversations: how many of the relevant passages are among the first five that the search of an answer finds, with
 * the built-in embedder. The baseline is plain BM25 on the last turn.
 */

/** What the search must find more than the baseline, by set. */
const gains: readonly { set: string; gain: number }[] = [
  { set: 'mtrag-un', gain: 0.05 },
  { set: 'mtrag-human', gain: 0.03 },
]
const rank = 5
/** Passages fetched for five documents: several may be of one document. */
const passagesPerSearch = 40

const documentSchema = z.object({ id: z.string(), title: z.string(), text: z.string() })
const taskSchema = z.object({
  id: z.string(),
  turns: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string() })).min(1),
})

type CorpusDocument = z.output<typeof documentSchema>
type Task = z.output<typeof taskSchema>

interface ConversationSet {
  corpus: readonly CorpusDocument[]
  /** Those that have judged passages. */
  tasks: Task[]
  relevant: ReadonlyMap<string, ReadonlySet<string>>
}

export const conversations: Evaluation = {
  title: 'conversations',
  folder: 'conversations',
  async run(folder) {
    await using bench = await createBenchIndex(createHashingEmbedder())
    // Sets may share their corpus, which takes most of the time.
    const searches = new Map<string, Search>()
    const measures: Measure[] = []
    for (const { set, gain } of gains) {
      const place = path.join(folder, set)
      if (!existsSync(place)) continue
      const loaded = loadSet(place)
      const key = JSON.stringify(loaded.corpus)
      const search = searches.get(key) ?? (await productSearch(bench, loaded.corpus))
      searches.set(key, search)
      measures.push(await measureSet(`${set}: recall@${rank}, ${loaded.tasks.length} questions`, gain, loaded, search))
    }
    return measures
  },
}

async function measureSet(name: string, gain: number, set: ConversationSet, search: Search): Promise<Measure> {
  const baseline = await measureRecall(set, plainSearch(set.corpus))
  const value = await measureRecall(set, search)
  return {
    name,
    value,
    bound: { atLeast: baseline + gain },
    baseline: { name: 'plain BM25, last turn', value: baseline },
  }
}

/** Ids of documents, the best first. */
type Search = (task: Task) => Promise<string[]>

async function measureRecall({ tasks, relevant }: ConversationSet, search: Search): Promise<number> {
  let sum = 0
  for (const task of tasks) {
    const wanted = relevant.get(task.id)!
    const found = (await search(task)).slice(0, rank)
    sum += found.filter((id) => wanted.has(id)).length / wanted.size
  }
  return sum / tasks.length
}

/** The settings that the README of the data states: no stop list, no stemming. */
function plainSearch(corpus: readonly CorpusDocument[]): Search {
  const documents = corpus.map(({ id, title, text }) => ({ id, text: `${title}\n${text}` }))
  const plain = createPlainBm25(documents, { k1: 1.2, b: 0.75, stopList: false })
  return async ({ turns }) => plain.rank(turns.at(-1)!.content, rank)
}

/** The query and the search of an answer, in a Space of all documents. */
async function productSearch(bench: BenchIndex, corpus: readonly CorpusDocument[]): Promise<Search> {
  const spaceId = createSpaceId()
  const ids = await indexDocuments(bench, spaceId, corpus)
  const retrieval = createRetrieval(bench)
  const { organisationId } = bench
  const signal = AbortSignal.timeout(600_000)
  return async ({ turns }) => {
    const { text, context } = await composeQuery(turns, signal)
    const scope = { organisationId, spaceId, filter: null, limit: passagesPerSearch, signal }
    const passages = await retrieval.search({ ...scope, query: text, context })
    return [...new Set(passages.map(({ documentId }) => ids.get(documentId)!))]
  }
}

async function indexDocuments(
  bench: BenchIndex,
  spaceId: SpaceId,
  corpus: readonly CorpusDocument[],
): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for (const { id, title, text } of corpus) {
    const chunks = await chunksOf(paragraphsOf(text), bench.embedder, pipelineChunkSize)
    ids.set(await bench.addDocument(spaceId, title || id, chunks), id)
  }
  return ids
}

function loadSet(folder: string): ConversationSet {
  const relevant = new Map<string, Set<string>>()
  for (const line of linesOf(folder, 'qrels.tsv').slice(1)) {
    const [task = '', document = '', score] = line.split('\t')
    if (Number(score) > 0) relevant.set(task, (relevant.get(task) ?? new Set()).add(document))
  }
  const tasks = readJsonLines(path.join(folder, 'conversations.jsonl')).map((row) => taskSchema.parse(row))
  return {
    corpus: readJsonLines(path.join(folder, 'corpus.jsonl')).map((row) => documentSchema.parse(row)),
    tasks: tasks.filter(({ id }) => relevant.has(id)),
    relevant,
  }
}

function linesOf(folder: string, file: string): string[] {
  const text = readFileSync(path.join(folder, file), 'utf8')
  return text.split('\n').filter((line) => line.trim() !== '')
}
