import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createCorpusClient } from './corpus/client.ts'
import { checkFile, type CorpusFile, type FileResult } from './corpus/check-file.ts'
import { renderTable } from './corpus/report.ts'

/**
 * Uploads every file of a folder of documents through the API, and compares the outcome of each with the expected one
 * (index.json of the folder). Prints each that differs and a last line `N passed, N failed`.
 */

const usage = `npm run corpus -- [--data FOLDER] [--url URL --operator-token TOKEN] [--write]
  --data FOLDER       folder with index.json (default ../shared/data/docs)
  --url, --operator-token   an instance that runs already; without them one is started and removed again
  --write             also write docs/reference/corpus.md`

const root = path.resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    data: { type: 'string', default: path.join(root, '../shared/data/docs') },
    url: { type: 'string' },
    'operator-token': { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
/** Uploads under way at once: enough to keep the extractors busy. */
const concurrency = 6

if (values.help) console.log(usage)
else await run()

async function run() {
  const folder = path.resolve(values.data)
  if (!existsSync(path.join(folder, 'index.json'))) {
    console.error(`${folder} has no index.json; name the folder with --data.`)
    process.exitCode = 2
    return
  }
  const { files } = JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as { files: CorpusFile[] }
  await using service = values.url
    ? { url: values.url, operatorToken: values['operator-token'] ?? '', [Symbol.asyncDispose]: async () => {} }
    : await startService()
  const client = await createCorpusClient(service)
  const results = await inParallel(files, (file) => checkFile(client, folder, file))
  for (const result of results) if (!result.passed) console.log(describe(result))
  if (values.write) writeFileSync(path.join(root, 'docs/reference/corpus.md'), renderTable(results))
  const passed = results.filter((result) => result.passed).length
  console.log(`${passed} passed, ${results.length - passed} failed`)
  if (passed < results.length) process.exitCode = 1
}

function describe({ file, expected, outcome, detail }: FileResult): string {
  return `${file.id}: expected ${expected}, got ${outcome}${detail === '' ? '' : ` (${detail})`}`
}

async function inParallel<In, Out>(items: In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const at = next++
      results[at] = await work(items[at]!)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
  return results
}

/** Portico as a separate process with an empty data folder. */
async function startService() {
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'portico-corpus-'))
  const operatorToken = `corpus-${crypto.randomUUID()}`
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path.join(root, 'src/main.ts')], {
    cwd: dataFolder,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      PORTICO_METRICS_PORT: '0',
      PORTICO_DATA_DIR: dataFolder,
      PORTICO_DEMO: 'false',
      PORTICO_LOG_LEVEL: 'error',
      PORTICO_OPERATOR_TOKEN: operatorToken,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const found = /listening on (http:\S+)/.exec(output)
      if (found) resolve(found[1]!)
    })
    void ended.then(() => reject(new Error(`portico did not start:\n${output}`)))
  })
  return {
    url,
    operatorToken,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await ended
      await rm(dataFolder, { recursive: true, force: true })
    },
  }
}
