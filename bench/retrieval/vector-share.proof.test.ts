import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  checkDueSpaces,
  createHashingEmbedder,
  createRetrieval,
  type Embedder,
  type SearchExplanation,
} from '../../src/documents/retrieval/index.ts'
import { createSpaceId, silentLog, type SpaceId } from '../../src/platform/kernel/index.ts'
import { tokenize } from '../../src/platform/language/index.ts'
import { sharedDataFolder } from '../../test/harness/shared-data.ts'
import { type BenchIndex, chunksOf, createBenchIndex, paragraphsOf, pipelineChunkSize } from './bench-index.ts'
import { type EvaluationSet, loadEvaluationSets } from './evaluation-sets.ts'
import { mean, scoreRanking } from './metrics.ts'

/**
 * With vectors of any quality, a search of a Space that was checked is as good as a search by words alone: all shared sets of questions whose
 * answers are documents, some questions of each.
 */

/** nDCG@10 that may be lost. */
const tolerance = 0.002
const dimensions = 64
const signal = () => AbortSignal.timeout(600_000)

/** Of length 1; equal for equal texts. */
function randomVector(seed: string): Float32Array {
  const vector = new Float32Array(dimensions)
  for (let at = 0; at < dimensions; at += 16) {
    const digest = createHash('sha256').update(`${at} ${seed}`).digest()
    for (let byte = 0; byte < 16; byte++) vector[at + byte] = digest[byte]! - 127.5
  }
  return unit(vector)
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector) || 1
  return vector.map((value) => value / length)
}

function sum(vectors: readonly Float32Array[]): Float32Array {
  const total = new Float32Array(dimensions)
  for (const vector of vectors) for (const [at, value] of vector.entries()) total[at]! += value
  return unit(total)
}

/** `vectorOf` sees the text as the embedder of an index does. */
function embedderOf(id: string, vectorOf: (text: string, purpose: string) => Float32Array): Embedder {
  const hashing = createHashingEmbedder()
  return {
    ...hashing,
    id,
    label: id,
    semantics: true,
    dimensions,
    embed: async ({ texts, purpose }) => texts.map((text) => vectorOf(text, purpose)),
  }
}

/** Knows which documents answer a question, and which chunk a remembered sentence is from; a third of each vector is noise. */
function createOracle(sets: readonly EvaluationSet[]) {
  const topics = new Map<string, Float32Array>()
  const relevant = new Map<string, Float32Array>()
  for (const { name, queries, relevant: answers } of sets) {
    const topicOf = (document: string) => randomVector(`${name.split(' ')[0]} ${document}`)
    for (const { id, text } of queries) {
      const documents = answers.get(id)
      if (documents) relevant.set(text, sum([...documents].map(topicOf)))
    }
  }
  const chunks: { words: string[]; known: Set<string>; vector: Float32Array }[] = []
  let present = ''
  return {
    /** The document that is embedded next. */
    begin: (set: EvaluationSet, document: string) => (present = `${set.name.split(' ')[0]} ${document}`),
    embedder: embedderOf('oracle', (text, purpose) => {
      if (purpose === 'document') {
        const topic = topics.get(present) ?? randomVector(present)
        const vector = sum([topic, randomVector(text)])
        const words = tokenize(text, { singleCharacters: false })
        chunks.push({ words, known: new Set(words), vector })
        return vector
      }
      const noise = randomVector(`noise ${text}`).map((value) => value / 2)
      const known = relevant.get(text)
      if (known) return sum([known, noise])
      const words = tokenize(text, { singleCharacters: false })
      const found = chunks.filter(
        ({ known, words: all }) => words.every((word) => known.has(word)) && isOrdered(words, all),
      )
      return sum([...found.slice(0, 3).map(({ vector }) => vector), noise])
    }),
  }
}

/** Whether the words are in this order within about one sentence. */
function isOrdered(words: readonly string[], all: readonly string[]): boolean {
  return all.some((first, start) => {
    if (first !== words[0]) return false
    let next = 0
    for (const word of all.slice(start, start + 40)) if (word === words[next]) next++
    return next === words.length
  })
}

type Indexed = Map<EvaluationSet, { spaceId: SpaceId; ids: Map<string, string> }>

/** Each corpus in a separate Space; sets that share one share its Space. */
async function indexSets(
  bench: BenchIndex,
  sets: readonly EvaluationSet[],
  begin: (set: EvaluationSet, document: string) => void,
): Promise<Indexed> {
  const indexed: Indexed = new Map()
  const byFolder = new Map<string, { spaceId: SpaceId; ids: Map<string, string> }>()
  for (const set of sets) {
    let space = byFolder.get(set.folder)
    if (!space) {
      space = { spaceId: createSpaceId(), ids: new Map() }
      byFolder.set(set.folder, space)
      for (const { id, title, text } of set.corpus) {
        begin(set, id)
        const chunks = await chunksOf(paragraphsOf(text), bench.embedder, pipelineChunkSize)
        space.ids.set(await bench.addDocument(space.spaceId, title || id, chunks), id)
      }
    }
    indexed.set(set, space)
  }
  return indexed
}

async function measure(
  bench: BenchIndex,
  set: EvaluationSet,
  { indexed, questions, vectorWeight }: { indexed: Indexed; questions: number; vectorWeight?: number },
) {
  const { spaceId, ids } = indexed.get(set)!
  const retrieval = createRetrieval({
    index: bench.index,
    embedder: bench.embedder,
    ...(vectorWeight === undefined ? {} : { vectorWeight }),
  })
  const judged = set.queries.filter(({ id }) => set.relevant.has(id))
  const step = Math.max(1, Math.ceil(judged.length / questions))
  let explanation: SearchExplanation | undefined
  const scores = []
  for (const query of judged.filter((_, at) => at % step === 0)) {
    const passages = await retrieval.search({
      organisationId: bench.organisationId,
      spaceId,
      filter: null,
      query: query.text,
      limit: 40,
      explain: { limit: 1, report: (found) => void (explanation = found) },
      signal: signal(),
    })
    const ranked = [...new Set(passages.map(({ documentId }) => ids.get(documentId)!))]
    scores.push(scoreRanking(ranked, set.relevant.get(query.id)!))
  }
  return { score: mean(scores)['nDCG@10'], share: explanation!.share }
}

const folders = [sharedDataFolder('retrieval'), sharedDataFolder('conversations')].filter((one) => one !== undefined)
const sets = folders.flatMap(loadEvaluationSets).filter(({ spans }) => spans.length === 0)
const oracle = createOracle(sets)
const hashing = createHashingEmbedder()
const random = (text: string, purpose: string) => randomVector(`${purpose} ${text}`)

describe.skipIf(folders.length < 2)(
  'with the share that the check chooses, nDCG@10 is not below that of words alone',
  () => {
    it.each<{
      embedder: Embedder
      questions?: number
      isGood?: boolean
      begin?: ReturnType<typeof createOracle>['begin']
    }>([
      { embedder: hashing, questions: 120 },
      { embedder: embedderOf('random', random) },
      { embedder: oracle.embedder, begin: oracle.begin, isGood: true },
    ])(
      '$embedder.label',
      { timeout: 900_000 },
      async ({ embedder, questions = 40, begin = () => {}, isGood = false }) => {
        await using bench = await createBenchIndex(embedder)
        const indexed = await indexSets(bench, sets, begin)
        await bench.index.engine.warm()
        await checkDueSpaces({ index: bench.index, embedder, log: silentLog, signal: signal() })
        for (const set of sets) {
          const { score: lexical } = await measure(bench, set, { indexed, questions, vectorWeight: 0 })
          const { score: fused, share } = await measure(bench, set, { indexed, questions })
          console.log(
            `${embedder.label.slice(0, 16).padEnd(16)} ${set.name.padEnd(34)} words ${lexical.toFixed(4)} fused ${fused.toFixed(4)} share ${share.weight} (${share.origin} ${share.check?.lexicalRank?.toFixed(3)} ${share.check?.fusedRank?.toFixed(3)} of ${share.check?.questions})`,
          )
          expect.soft(fused, set.name).toBeGreaterThanOrEqual(lexical - tolerance)
          if (isGood && share.weight > 0) expect.soft(fused, set.name).toBeGreaterThan(lexical)
        }
      },
    )
  },
)
