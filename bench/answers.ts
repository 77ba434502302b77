/**
 * Measures the published chat of the real service, over HTTP, in one Space of growing size: the time until the passages, the first text
 * and the whole answer, alone and while documents are uploaded and processed. The model is the built-in offline model. The texts are
 * random sequences of words from this project's docs.
 *
 *   npm run bench:answers [-- --chunks 1000,10000,100000] [--questions 200] [--uploads 4] [--pause 15]
 *     [--database-url URL] [--json FILE]
 *
 * The pause, in seconds, lets the work in the background end. The figures of `--json` compare an answer with `GET /livez` of the same service.
 */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import {
  createApiClient,
  expectStatus,
  organisationMakers,
  removeFolder,
  spawnPortico,
  type TestOrganisation,
  type TestSpace,
  uploadForm,
} from '../test/harness/portico.ts'
import { figureWriter } from './runner/figures.ts'
import { median } from './runner/ratios.ts'
import { createSyntheticTexts, wordsOf } from './synthetic-texts.ts'

const { values } = parseArgs({
  options: {
    chunks: { type: 'string', default: '1000,10000,100000' },
    questions: { type: 'string', default: '200' },
    uploads: { type: 'string', default: '4' },
    pause: { type: 'string', default: '15' },
    'database-url': { type: 'string' },
    json: { type: 'string' },
  },
})
const questionCount = Number(values.questions)
const uploads = Number(values.uploads)
const comparedRounds = 3
const write = figureWriter(values.json)
const paragraphsPerFile = 100
const wordsPerParagraph = 150

const docs = new URL('../docs/', import.meta.url)
const pages = readdirSync(docs).filter((name) => name.endsWith('.md'))
const { words } = createSyntheticTexts(7, wordsOf(pages.map((name) => readFileSync(new URL(name, docs), 'utf8'))))

const dataFolder = mkdtempSync(path.join(tmpdir(), 'portico-bench-'))
const operatorToken = 'bench-operator-token-of-this-run-only'
const portico = await spawnPortico({
  PORTICO_DATA_DIR: dataFolder,
  PORTICO_OPERATOR_TOKEN: operatorToken,
  PORTICO_DEMO: 'false',
  PORTICO_LOG_LEVEL: 'warn',
  ...(values['database-url'] === undefined ? {} : { DATABASE_URL: values['database-url'] }),
})
try {
  await run()
} finally {
  await portico.kill('SIGTERM')
  await removeFolder(dataFolder)
}

async function run(): Promise<void> {
  const operator = createApiClient(portico.url, operatorToken)
  const makers = organisationMakers(portico.url, operator)
  const organisation = await makers.createOrganisation({ monthlyBudgetUsd: '100000' })
  const space = await makers.createSpace(organisation)
  let files = 0
  for (const wanted of values.chunks.split(',').map(Number)) {
    const startedMs = performance.now()
    const before = files
    files = await upload(organisation, space, (count) => count * paragraphsPerFile < wanted, files)
    const seconds = (performance.now() - startedMs) / 1000
    const rate = (((files - before) * paragraphsPerFile) / seconds).toFixed(0)
    console.log(`${files * paragraphsPerFile} chunks (uploaded, extracted and indexed at ${rate} a second)`)
    // The first questions load the Space and compile the code.
    await ask(organisation, space, 30)
    await new Promise((resolve) => setTimeout(resolve, Number(values.pause) * 1000))
    if (values.json !== undefined) await compare(organisation, space, files * paragraphsPerFile)
    print('alone', await ask(organisation, space, questionCount))
    const stop = { now: false }
    const uploadedMs = performance.now()
    const uploading = upload(organisation, space, () => !stop.now, files)
    const figures = await ask(organisation, space, questionCount).finally(() => (stop.now = true))
    const more = (await uploading) - files
    files += more
    print('during uploads', figures)
    const inRate = (more * paragraphsPerFile * 1000) / (performance.now() - uploadedMs)
    console.log(`    (${inRate.toFixed(0)} chunks/s were added during that)`)
  }
}

/** Uploads `uploads` files at a time, each until it is ready, while `isWanted`; resolves to the number of files afterwards. */
async function upload(
  { client }: TestOrganisation,
  { id }: TestSpace,
  isWanted: (count: number) => boolean,
  count: number,
): Promise<number> {
  let files = count
  const worker = async () => {
    while (isWanted(files)) {
      const name = `bench ${files++}.txt`
      const paragraphs = Array.from({ length: paragraphsPerFile }, () => words(wordsPerParagraph))
      const form = uploadForm(paragraphs.join('\n\n'), name)
      const document = expectStatus(await client('POST', `/v1/documents?spaceId=${id}`, form), 201)
      for (;;) {
        const { status } = expectStatus(await client('GET', `/v1/documents/${document.id}`), 200)
        if (status === 'ready') break
        if (status === 'failed') throw new Error(`${name} failed`)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
  }
  await Promise.all(Array.from({ length: uploads }, worker))
  return files
}

async function compare(organisation: TestOrganisation, space: TestSpace, chunks: number): Promise<void> {
  const count = Math.ceil(questionCount / comparedRounds)
  for (let round = 0; round < comparedRounds; round++) {
    const { whole } = await ask(organisation, space, count)
    const live: number[] = []
    for (let request = 0; request < count; request++) {
      const startMs = performance.now()
      await (await fetch(`${portico.url}/livez`)).text()
      live.push(performance.now() - startMs)
    }
    const figure = { case: `${chunks} chunks`, round, quantity: 'ms', better: 'lower' as const }
    write({ ...figure, subject: 'whole answer', value: median(whole) })
    write({ ...figure, subject: 'GET /livez', reference: true, value: median(live) })
  }
}

interface Waits {
  passages: number[]
  firstText: number[]
  whole: number[]
}

/** Sends one question after the other, streamed. */
async function ask({ apiKey }: TestOrganisation, { endpointId }: TestSpace, count: number): Promise<Waits> {
  const waits: Waits = { passages: [], firstText: [], whole: [] }
  for (let question = 0; question < count; question++) {
    const startMs = performance.now()
    const response = await fetch(`${portico.url}/v1/endpoints/${endpointId}/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: words(6) }], streaming: true }),
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
  }
  return waits
}

function print(name: string, { passages, firstText, whole }: Waits): void {
  const describe = (times: number[]) => {
    const sorted = times.toSorted((left, right) => left - right)
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)
    return `${at(0.5)} / ${at(0.99)}`
  }
  console.log(
    `    ${name.padEnd(26)} p50 / p99 ms: passages ${describe(passages)}   first text ${describe(firstText)}   whole answer ${describe(whole)}`,
  )
}
