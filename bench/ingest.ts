/**
 * Extraction and chunking, compared with pdftotext, with pandoc and with a loader-and-splitter pipeline (pdf.js and @langchain/textsplitters), in
 * one run on one machine: pages per second, peak memory, share of the expected words. pdftotext (poppler-utils) and pandoc are Debian packages.
 *
 *   npm run bench:ingest [-- --data FOLDER] [--pages N] [--rounds N] [--only-pdf] [--json FILE]
 *
 * With --index it measures instead how fast chunks are written into a large Space; bench/ingest-index.ts reads the options --database-url,
 * --chunks, --seconds, --writers, --dimensions and --reuse.
 *
 * FOLDER holds an index.json as in the shared data folder `docs`; without it only generated files are read. `--only-pdf` measures the
 * generated pdf only.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { chunkingFor, createExtractorPool, type DocumentFormat } from '../src/documents/ingestion/index.ts'
import { buildDocx, buildTextPdf, docxParagraph } from '../src/documents/ingestion/testing/build-documents.ts'
import { wordRecall } from '../scripts/corpus/word-recall.ts'
import { silentLog } from '../src/platform/kernel/index.ts'
import { createHashingEmbedder } from '../src/documents/retrieval/index.ts'
import { sharedDataFolder } from '../test/harness/shared-data.ts'
import { benchIndexing } from './ingest-index.ts'
import { figureWriter, rotated } from './runner/figures.ts'

interface Sample {
  file: string
  expectedFile: string | null
}

/** What one reader did with a set of files. */
interface Outcome {
  milliseconds: number
  /** Of all processes, that of the program's start included where each file has its own. */
  processorMs: number
  peakMebibytes: number
  texts: string[]
}

type Reader = (files: string[]) => Promise<Outcome>

const measuresIndex = process.argv.includes('--index')
const { values: options, positionals } = parseArgs({
  args: measuresIndex ? [] : process.argv.slice(2),
  allowPositionals: true,
  options: {
    data: { type: 'string' },
    pages: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '3' },
    'only-pdf': { type: 'boolean', default: false },
    json: { type: 'string' },
    as: { type: 'string' },
  },
})
const readers: Record<string, Reader> = {
  pdftotext: (files) => readWithProgram(files, (file) => ['pdftotext', '-enc', 'UTF-8', file, '-']),
  pandoc: (files) => readWithProgram(files, (file) => ['pandoc', '-f', 'docx', '-t', 'plain', '--wrap=none', file]),
  portico: readWithPortico,
  loader: readWithLoader,
}
const titles: Record<string, string> = {
  pdftotext: 'pdftotext',
  pandoc: 'pandoc',
  portico: 'portico (extract + chunk)',
  loader: 'pdf.js + text splitter',
}

if (measuresIndex) await benchIndexing(process.argv.slice(2))
else if (options.as) process.stdout.write(JSON.stringify(await readers[options.as]!(positionals)))
else await main()

async function main() {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-bench-'))
  try {
    const generated = path.join(folder, 'generated.pdf')
    await writeFile(generated, generatePdf(Number(options.pages)))
    const pdfReaders = ['pdftotext', 'portico', 'loader']
    const title = `generated pdf of ${options.pages} pages, two columns`
    await compare(title, [{ file: generated, expectedFile: null }], pdfReaders)
    if (options['only-pdf']) return
    const docx = path.join(folder, 'compared.docx')
    await writeFile(
      docx,
      buildDocx(docxParagraph('The committee met on Tuesday and agreed. '.repeat(12)).repeat(3_000)),
    )
    await compare('generated docx of 3,000 paragraphs', [{ file: docx, expectedFile: null }], ['pandoc', 'portico'])
    const data = options.data ?? sharedDataFolder('docs')
    if (data) {
      await compare('the shared pdf documents with text', loadSamples(data, 'pdf'), pdfReaders)
      await compare('the shared docx documents with text', loadSamples(data, 'docx'), ['pandoc', 'portico'])
    } else console.log('\nThe shared documents are missing: give --data FOLDER.')
    await measureOtherFormats(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** `wanted`: names of readers; the first is the reference of the ratios. */
async function compare(title: string, samples: Sample[], wanted: string[]) {
  console.log(`\n${title} (${samples.length} file${samples.length === 1 ? '' : 's'})`)
  const [program] = wanted as [string]
  const isInstalled = (process.env.PATH ?? '')
    .split(path.delimiter)
    .some((place) => existsSync(path.join(place, program)))
  if (!isInstalled) console.log(`${program} is missing: no reference in this run.`)
  const names = wanted.filter((name) => name !== program || isInstalled)
  const best = new Map<string, Outcome>()
  // Rounds take turns, so that a busy moment of the machine does not hit one reader only; the best round of each counts.
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const name of rotated(names, round)) {
      const outcome = await inOwnProcess(name, samples)
      const reference = name !== 'portico'
      const figure = { case: title, round, subject: titles[name]!, reference }
      figureWriter(options.json)({ ...figure, quantity: 'ms', value: outcome.milliseconds, better: 'lower' })
      const former = best.get(name)
      if (!former || outcome.processorMs < former.processorMs) best.set(name, outcome)
    }
  }
  const pages = best.get('portico')!.texts.reduce((sum, text) => sum + text.split('\f').length, 0)
  const reference = best.get(program)?.processorMs
  console.table(
    Object.fromEntries(
      [...best].map(([name, { milliseconds, processorMs, peakMebibytes, texts }]) => [
        titles[name],
        {
          'pages/s of a core': Math.round((pages / processorMs) * 1000),
          ms: Math.round(milliseconds),
          'processor ms': Math.round(processorMs),
          [`times ${program}`]: reference ? Number((processorMs / reference).toFixed(2)) : null,
          'peak MiB': Math.round(peakMebibytes),
          'word recall': meanRecall(samples, texts),
        },
      ]),
    ),
  )
}

function meanRecall(samples: Sample[], texts: string[]): number | null {
  const recalls = samples.flatMap(({ expectedFile }, index) =>
    expectedFile ? [wordRecall(readFileSync(expectedFile, 'utf8'), texts[index] ?? '')] : [],
  )
  return recalls.length === 0
    ? null
    : Number((recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length).toFixed(4))
}

async function inOwnProcess(reader: string, samples: Sample[]): Promise<Outcome> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [fileURLToPath(import.meta.url), '--as', reader, ...samples.map(({ file }) => file)],
    { maxBuffer: 1024 ** 3 },
  )
  return JSON.parse(stdout) as Outcome
}

function loadSamples(folder: string, wanted: DocumentFormat): Sample[] {
  const { files } = JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as {
    files: { file: string; format: string; outcome: string; expected_file?: string }[]
  }
  return files
    .filter(({ format, outcome }) => format === wanted && outcome === 'text')
    .map(({ file, expected_file }) => ({
      file: path.join(folder, file),
      expectedFile: expected_file ? path.join(folder, expected_file) : null,
    }))
}

/** One process for each file, as such a program is used; its peak is the largest of them. */
async function readWithProgram(files: string[], commandOf: (file: string) => string[]): Promise<Outcome> {
  const texts: string[] = []
  let peakMebibytes = 0
  const before = processorMsOf('self')
  const startedAt = performance.now()
  for (const file of files) {
    const [program, ...words] = commandOf(file) as [string, ...string[]]
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'ignore'] })
    const watch = setInterval(() => (peakMebibytes = Math.max(peakMebibytes, peakOf(child.pid))), 2)
    const ended = once(child, 'exit')
    let text = ''
    for await (const piece of child.stdout.setEncoding('utf8')) text += piece as string
    // Its processor time counts when it has ended.
    await ended
    clearInterval(watch)
    texts.push(text.replace(/\f$/, ''))
  }
  const processorMs = processorMsOf('self') - before
  return { milliseconds: performance.now() - startedAt, processorMs, peakMebibytes, texts }
}

/** A warm pool, as in the service; the peak is that of the extraction process plus what this process grew by. */
async function readWithPortico(files: string[]): Promise<Outcome> {
  const pool = createExtractorPool({
    size: 1,
    chunking: chunkingFor(createHashingEmbedder()),
    readableFolders: [...new Set(files.map((file) => path.dirname(file)))],
    log: silentLog,
  })
  await pool.warm()
  const [pid] = pool.processIds()
  const texts: string[] = []
  const restingMebibytes = process.memoryUsage.rss() / 1024 ** 2
  const before = processorMsOf('self') + processorMsOf(pid)
  const startedAt = performance.now()
  for (const file of files) {
    const { size } = await stat(file)
    const format = path.extname(file).slice(1) as DocumentFormat
    const { chunks } = pool.extract({ filePath: file, format, sizeBytes: size })
    const pages: string[] = []
    for await (const batch of chunks) {
      for (const { text, pageFrom } of batch)
        pages[(pageFrom ?? 1) - 1] = `${pages[(pageFrom ?? 1) - 1] ?? ''}${text}\n`
    }
    texts.push(Array.from(pages, (page) => page ?? '').join('\f'))
  }
  const milliseconds = performance.now() - startedAt
  const processorMs = processorMsOf('self') + processorMsOf(pid) - before
  const peakMebibytes = peakOf(pid) + Math.max(0, process.resourceUsage().maxRSS / 1024 - restingMebibytes)
  await pool.close()
  return { milliseconds, processorMs, peakMebibytes, texts }
}

/** What LangChain's pdf loader does (pdf.js, a document per page), then its splitter with its usual sizes. */
async function readWithLoader(files: string[]): Promise<Outcome> {
  const { RecursiveCharacterTextSplitter } = await import('@langchain/textsplitters')
  const pdfjs = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const assets = path.dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json')))
  const splitter = new RecursiveCharacterTextSplitter({ chunkSize: 1000, chunkOverlap: 120 })
  const texts: string[] = []
  const before = processorMsOf('self')
  const startedAt = performance.now()
  for (const file of files) {
    const task = pdfjs.getDocument({
      data: new Uint8Array(await readFile(file)),
      isEvalSupported: false,
      useSystemFonts: false,
      cMapUrl: `${assets}/cmaps/`,
      cMapPacked: true,
      standardFontDataUrl: `${assets}/standard_fonts/`,
      verbosity: 0,
    })
    const document = await task.promise
    const pages: string[] = []
    for (let number = 1; number <= document.numPages; number += 1) {
      const page = await document.getPage(number)
      const { items } = await page.getTextContent()
      pages.push(items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join(''))
      page.cleanup()
    }
    await splitter.createDocuments(pages)
    texts.push(pages.join('\f'))
    await task.destroy()
  }
  return {
    milliseconds: performance.now() - startedAt,
    processorMs: processorMsOf('self') - before,
    peakMebibytes: process.resourceUsage().maxRSS / 1024,
    texts,
  }
}

/** Processor time of a process and of its children that have ended, where the system reports it (Linux). A tick has 10 ms. */
function processorMsOf(pid: number | 'self' | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 10
  } catch {
    return 0
  }
}

/** Peak resident memory of a process in MiB, where the system reports it (Linux). */
function peakOf(pid: number | undefined): number {
  try {
    const kibibytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kibibytes ?? 0) / 1024
  } catch {
    return 0
  }
}

async function measureOtherFormats(folder: string) {
  console.log('\nother formats, generated: extract + chunk, one process')
  const sentence = 'The committee met on Tuesday and agreed that the harbour would be closed for repairs until June. '
  const paragraph = sentence.repeat(6)
  const contents: [string, string | Buffer][] = [
    ['generated.txt', `${paragraph}\n\n`.repeat(34_000)],
    ['generated.md', `## A heading\n\n${paragraph}\n\n- one\n- two\n\n`.repeat(8_000)],
    ['generated.csv', `name,city,amount\n${'Ann Miller,Rotterdam,1250.75\n'.repeat(200_000)}`],
    ['generated.docx', buildDocx(docxParagraph(paragraph).repeat(15_000))],
  ]
  const table: Record<string, object> = {}
  for (const [name, content] of contents) {
    const file = path.join(folder, name)
    await writeFile(file, content)
    const outcome = await inOwnProcess('portico', [{ file, expectedFile: null }])
    const mebibytes = outcome.texts.join('').length / 1024 ** 2
    table[name] = {
      'MiB of text': Number(mebibytes.toFixed(1)),
      'MiB/s': Number((mebibytes / (outcome.milliseconds / 1000)).toFixed(1)),
      'peak MiB': Math.round(outcome.peakMebibytes),
    }
  }
  console.table(table)
}

function generatePdf(pages: number): Buffer {
  const line = 'The committee met again and agreed on the plan'
  return buildTextPdf(
    Array.from({ length: pages }, (_, index) => ({
      texts: [
        { text: `Section ${index + 1}`, x: 50, y: 740, size: 16 },
        ...[50, 320].flatMap((x) =>
          Array.from({ length: 50 }, (_, row) => ({ text: `${row} ${line}`, x, y: 700 - row * 12 })),
        ),
      ],
    })),
  )
}
