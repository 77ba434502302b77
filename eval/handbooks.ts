import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { chunksOf, createBenchIndex, pipelineChunkSize, type BenchIndex } from '../bench/retrieval/bench-index.ts'
import { createBoundary, fencePassages } from '../src/chat/chat/context/prompt.ts'
import { composeQuery, withSynonyms } from '../src/chat/chat/search-query.ts'
import { createFileExtractor } from '../src/documents/ingestion/extractors/extract-file.ts'
import { createDocumentReader, createHashingEmbedder, createRetrieval } from '../src/documents/retrieval/index.ts'
import { composeAnswer } from '../src/gateway/providers/offline/offline-provider.ts'
import { composeUncertain, isNoAnswer } from '../src/platform/evidence/index.ts'
import { createSpaceId } from '../src/platform/kernel/index.ts'
import { inHalf } from './half.ts'
import type { Evaluation } from './measure.ts'
import { defaultRoom, packForPrompt } from './prompt-passages.ts'
import { readQuotes } from './read-quotes.ts'

/**
 * Natural questions about the documentation of a product, answered by the offline model through the search and the prompt of a Space. `gold`
 * has a few words of each sentence that answers.
 */
export const handbooks: Evaluation = {
  title: 'handbooks',
  folder: 'handbooks',
  async run(folder, half) {
    const asked = (await askHandbooks(folder)).filter(({ question }) => inHalf(question.id, half))
    const answerable = asked.filter(({ question }) => question.answerable)
    const absent = asked.filter(({ question }) => !question.answerable)
    const share = <Item>(items: readonly Item[], test: (item: Item) => boolean) =>
      items.filter(test).length / items.length
    return [
      {
        name: `the first quote answers, ${answerable.length} natural questions`,
        value: share(answerable, ({ isFirst }) => isFirst),
        bound: { atLeast: 0.68 },
        baseline: {
          name: 'first passage of the search',
          value: share(answerable, ({ isInFirstPassage }) => isInFirstPassage),
        },
      },
      {
        name: 'a quote answers',
        value: share(answerable, ({ isAnywhere }) => isAnywhere),
        bound: { atLeast: 0.85 },
        baseline: { name: 'a passage of the prompt', value: share(answerable, ({ isGiven }) => isGiven) },
      },
      {
        name: 'wrong abstention',
        value: share(answerable, ({ isAbstention }) => isAbstention),
        bound: { atMost: 0.08 },
        baseline: null,
      },
      {
        name: `no answer, or called uncertain, ${absent.length} near questions without an answer`,
        value: share(absent, ({ isAbstention, isUncertain }) => isAbstention || isUncertain),
        bound: { atLeast: 0.5 },
        baseline: null,
      },
    ]
  },
}

interface Question {
  id: string
  handbook: string
  question: string
  answerable: boolean
  kind: string | null
  /** Absent where nothing answers. */
  gold?: string[]
}

const passagesPerSearch = 30

export async function askHandbooks(folder: string) {
  const { questions } = JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as { questions: Question[] }
  const embedder = createHashingEmbedder()
  await using bench = await createBenchIndex(embedder)
  const retrieval = createRetrieval({ index: bench.index, embedder })
  const signal = AbortSignal.timeout(600_000)
  const asked = []
  for (const handbook of new Set(questions.map((question) => question.handbook))) {
    const spaceId = createSpaceId()
    await indexHandbook(bench, spaceId, path.join(folder, handbook))
    const scope = { organisationId: bench.organisationId, spaceId, filter: null }
    for (const question of questions.filter((one) => one.handbook === handbook)) {
      const { text, context } = withSynonyms(await composeQuery([{ role: 'user', content: question.question }], signal))
      const found = await retrieval.search({ ...scope, query: text, context, limit: passagesPerSearch, signal })
      const passages = await packForPrompt(
        createDocumentReader(bench.corpus),
        scope,
        { found, room: defaultRoom },
        signal,
      )
      const prompt = `${fencePassages(passages, createBoundary())}\n\n${question.question}`
      const answer = await composeAnswer([{ role: 'user', content: prompt }])
      const quotes = readQuotes(answer)
      const answers = (given: string) => (question.gold ?? []).some((words) => plain(given).includes(plain(words)))
      const isAbstention = isNoAnswer(answer)
      asked.push({
        question,
        quotes,
        passages,
        isAbstention,
        isUncertain: answer.startsWith(composeUncertain(question.question)),
        isFirst: !isAbstention && answers(quotes[0] ?? ''),
        isAnywhere: !isAbstention && quotes.some(answers),
        isGiven: passages.some((passage) => answers(passage.text)),
        isInFirstPassage: found[0] !== undefined && answers(found[0].text),
      })
    }
  }
  return asked
}

async function indexHandbook(bench: BenchIndex, spaceId: ReturnType<typeof createSpaceId>, folder: string) {
  const limits = { maximumPages: 1, maximumCharacters: 1e8, maximumBlocks: 1e6, maximumUnpackedBytes: 1e8 }
  for (const name of readdirSync(folder).sort()) {
    const filePath = path.join(folder, name)
    const input = { filePath, sizeBytes: statSync(filePath).size, limits, report: { progress() {}, warn() {} } }
    const blocks = createFileExtractor().extract('md', input)
    await bench.addDocument(spaceId, name, await chunksOf(blocks, createHashingEmbedder(), pipelineChunkSize))
  }
}

/** Without marks of formatting, differences of spacing and of case. */
export const plain = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[*_`[\]()“”"’']|https?:\S+/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
