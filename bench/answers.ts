/**
 * Measures the published chat of the real service, over HTTP, in one Space of growing size. The texts are random sequences of words from
 * this project's docs; vectors are those of the built-in embedder.
 *
 *   npm run bench:answers [-- --chunks 1000,10000,100000] [--questions 200] [--uploads 4] [--database-url URL] [--folder FOLDER] [--pause 15]
 *     [--json FILE]
 *
 * With a model in this process that answers at once: the time from the request until the first request reaches the model. With the built-in
 * offline model: the time until the passages, the first text and the whole answer. Alone, and while documents are uploaded and processed;
 * `--uploads 0` leaves the latter out. `--pause`: seconds before the first question, in which the Space is read into memory; until then searches
 * scan the database. With `--folder` the Space is kept there, and the next run measures it as it is.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createApiClient, expectStatus, removeFolder, spawnPortico } from '../test/harness/portico.ts'
import { type BenchSpace, openBenchSpace } from './answers/bench-space.ts'
import { type ModelCall, scriptedModel, startScriptedModel } from './answers/scripted-model.ts'
import { figureWriter } from './runner/figures.ts'
import { median } from './runner/ratios.ts'
import { createSyntheticTexts, wordsOf } from './synthetic-texts.ts'

const { values } = parseArgs({
  options: {
    chunks: { type: 'string', default: '1000,10000,100000' },
    questions: { type: 'string', default: '200' },
    uploads: { type: 'string', default: '4' },
    'database-url': { type: 'string' },
    folder: { type: 'string' },
    pause: { type: 'string', default: '15' },
    json: { type: 'string' },
  },
})
const questionCount = Number(values.questions)
const uploads = Number(values.uploads)
const comparedRounds = 3
const write = figureWriter(values.json)
/** Files that are uploaded at a time to fill the Space. */
const fillingUploads = 4

const docs = new URL('../docs/', import.meta.url)
const pages = readdirSync(docs).filter((name) => name.endsWith('.md'))
const { words } = createSyntheticTexts(7, wordsOf(pages.map((name) => readFileSync(new URL(name, docs), 'utf8'))))

const folder = values.folder ?? mkdtempSync(path.join(tmpdir(), 'portico-bench-'))
mkdirSync(folder, { recursive: true })
const operatorToken = 'bench-operator-token-of-this-run-only'
const model = await startScriptedModel(() =>
  JSON.stringify({ question: words(8), variants: [words(6), words(6)], underspecified: false }),
)
const configFile = path.join(folder, 'portico.yaml')
// JSON is YAML.
writeFileSync(configFile, JSON.stringify({ ...model.settings, embeddings: { kind: 'hashing' } }))
const portico = await spawnPortico({
  PORTICO_CONFIG: configFile,
  PORTICO_DATA_DIR: folder,
  PORTICO_OPERATOR_TOKEN: operatorToken,
  PORTICO_DEMO: 'false',
  PORTICO_LOG_LEVEL: 'warn',
  ...(values['database-url'] === undefined ? {} : { DATABASE_URL: values['database-url'] }),
})
const operator = createApiClient(portico.url, operatorToken)
try {
  await run()
} finally {
  await portico.kill('SIGTERM')
  model.close()
  if (values.folder === undefined) await removeFolder(folder)
}

async function run(): Promise<void> {
  const bench = await openBenchSpace({ url: portico.url, operator }, folder, words)
  for (const wanted of values.chunks.split(',').map(Number)) {
    const before = bench.chunks()
    const startedMs = performance.now()
    await bench.upload(fillingUploads, () => bench.chunks() < wanted)
    const added = bench.chunks() - before
    const rate = ((added * 1000) / (performance.now() - startedMs)).toFixed(0)
    console.log(`${bench.chunks()} chunks (${added} uploaded, extracted and indexed at ${rate} a second)`)
    await new Promise((resolve) => setTimeout(resolve, 1_000 * Number(values.pause)))
    // The first questions compile the code.
    await ask(bench, 30, () => [question()])
    if (values.json !== undefined) await compare(bench)
    await measureFirstCalls(bench)
    await measureAnswers(bench)
  }
}

/** The figures of `--json`: an answer compared with `GET /livez` of the same service. */
async function compare(bench: BenchSpace): Promise<void> {
  const count = Math.ceil(questionCount / comparedRounds)
  for (let round = 0; round < comparedRounds; round++) {
    const { whole } = await ask(bench, count, () => [question()])
    const live: number[] = []
    for (let request = 0; request < count; request++) {
      const startMs = performance.now()
      await (await fetch(`${portico.url}/livez`)).text()
      live.push(performance.now() - startMs)
    }
    const figure = { case: `${bench.chunks()} chunks`, round, quantity: 'ms', better: 'lower' as const }
    write({ ...figure, subject: 'whole answer', value: median(whole) })
    write({ ...figure, subject: 'GET /livez', reference: true, value: median(live) })
  }
}

interface Message {
  role: 'user' | 'assistant'
  content: string
}

function question(): Message {
  return { role: 'user', content: words(6) }
}

/** As many earlier questions as a search reads, each with an answer as long as a passage. */
function conversation(): Message[] {
  const earlier = Array.from({ length: 4 }, (): Message[] => [
    { role: 'user', content: words(8) },
    { role: 'assistant', content: words(150) },
  ])
  // The pronoun makes it a question that is rewritten.
  return [...earlier.flat(), { role: 'user', content: `is it ${words(5)}` }]
}

/** The scripted model: everything that happens before its first call. */
async function measureFirstCalls(bench: BenchSpace): Promise<void> {
  await change(bench, { model: scriptedModel, settings: { queryRewriting: 'off' } })
  await printFirstCalls(bench, 'first question', () => [question()])
  await duringUploads(bench, () => printFirstCalls(bench, 'first question, uploads', () => [question()]))
  await printFirstCalls(bench, 'fifth question', conversation)
  await change(bench, { settings: { queryRewriting: 'auto' } })
  await printFirstCalls(bench, 'fifth question, rewritten', conversation)
}

async function printFirstCalls(bench: BenchSpace, name: string, make: () => Message[]): Promise<void> {
  await ask(bench, 10, make)
  const waits = await ask(bench, questionCount, make)
  const answering = `   answering call without the model's time ${describe(waits.answeringCall)}`
  const isRewritten = waits.firstCall.some((wait, index) => wait !== waits.answeringCall[index])
  console.log(
    `    ${name.padEnd(26)} p50 / p95 / p99 ms: first call ${describe(waits.firstCall)}${isRewritten ? answering : ''}`,
  )
}

/** The offline model: what a visitor waits for. */
async function measureAnswers(bench: BenchSpace): Promise<void> {
  await change(bench, { model: 'portico/offline' })
  await ask(bench, 10, () => [question()])
  await printAnswers(bench, 'alone')
  await duringUploads(bench, () => printAnswers(bench, 'during uploads'))
}

async function printAnswers(bench: BenchSpace, name: string): Promise<void> {
  const { passages, firstText, whole } = await ask(bench, questionCount, () => [question()])
  console.log(
    `    ${name.padEnd(26)} p50 / p95 / p99 ms: passages ${describe(passages)}   first text ${describe(firstText)}   whole answer ${describe(whole)}`,
  )
}

async function change({ space }: BenchSpace, fields: object): Promise<void> {
  expectStatus(await operator('PATCH', `/api/spaces/${space.id}`, fields), 200)
}

async function duringUploads(bench: BenchSpace, act: () => Promise<void>): Promise<void> {
  if (uploads === 0) return
  const stop = { now: false }
  const before = bench.chunks()
  const startedMs = performance.now()
  const uploading = bench.upload(uploads, () => !stop.now)
  await act().finally(() => (stop.now = true))
  await uploading
  const rate = ((bench.chunks() - before) * 1000) / (performance.now() - startedMs)
  console.log(`    (${rate.toFixed(0)} chunks/s were added during that)`)
}

/** Milliseconds from the request. */
interface Waits {
  passages: number[]
  firstText: number[]
  whole: number[]
  /** Of the scripted model: its first call, and the one that answers, without the time that the model took before. */
  firstCall: number[]
  answeringCall: number[]
}

/** Sends one question after the other, streamed. */
async function ask({ organisation, space }: BenchSpace, count: number, make: () => Message[]): Promise<Waits> {
  const waits: Waits = { passages: [], firstText: [], whole: [], firstCall: [], answeringCall: [] }
  for (let index = 0; index < count; index++) {
    const body = JSON.stringify({ messages: make(), streaming: true })
    model.takeCalls()
    const startMs = performance.now()
    const response = await fetch(`${portico.url}/v1/endpoints/${space.endpointId}/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${organisation.apiKey}`, 'content-type': 'application/json' },
      body,
    })
    let text = ''
    let passagesMs: number | undefined
    let firstTextMs: number | undefined
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (text.includes('"RETRIEVED"')) passagesMs ??= performance.now() - startMs
      if (text.includes('assistant_write')) firstTextMs ??= performance.now() - startMs
    }
    if (passagesMs === undefined || firstTextMs === undefined) throw new Error(`no answer: ${text.slice(0, 500)}`)
    waits.passages.push(passagesMs)
    waits.firstText.push(firstTextMs)
    waits.whole.push(performance.now() - startMs)
    noteCalls(waits, model.takeCalls(), startMs)
  }
  return waits
}

function noteCalls({ firstCall, answeringCall }: Waits, calls: readonly ModelCall[], startMs: number): void {
  const [first] = calls
  const answering = calls.find(({ isRewriting }) => !isRewriting)
  if (!first || !answering) return
  firstCall.push(first.arrivedMs - startMs)
  const ofModel = first === answering ? 0 : first.repliedMs - first.arrivedMs
  answeringCall.push(answering.arrivedMs - startMs - ofModel)
}

function describe(times: readonly number[]): string {
  const sorted = times.toSorted((left, right) => left - right)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)
  return `${at(0.5)} / ${at(0.95)} / ${at(0.99)}`
}
