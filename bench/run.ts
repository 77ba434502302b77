import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Bench, benches } from './runner/benches.ts'
import { type Figure, readFigures } from './runner/figures.ts'
import { computeRatios, findRegressions, formatRatios, type Ratio, type RecordedRatio } from './runner/ratios.ts'

/**
 * Runs all benches that compare Portico with something a reader knows, and prints a table of the ratios over the rounds, in Markdown.
 *
 *   npm run bench -- [--short | --check] [--only gateway,ledger] [--json FILE] [--recorded FILE] [--record]
 *
 * `--short` takes below three minutes on two quiet cores. `--check` takes below two and fails when a ratio of processor time is twice as bad
 * as the ratio in bench/recorded-ratios.json (or `--recorded`), in each round; with `--record` it writes those of its benches there instead. The file of `--json` receives the figures and the ratios
 * as JSON.
 */
const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    only: { type: 'string' },
    recorded: { type: 'string', default: path.join(import.meta.dirname, 'recorded-ratios.json') },
    json: { type: 'string', default: path.join(os.tmpdir(), 'portico-bench.json') },
  },
})
const recordedFile = values.recorded
const runs = selectRuns()
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-bench-run-'))
const startedMs = performance.now()
const loadBefore = load()
const failed: string[] = []
const figures: Record<string, Figure[]> = {}
try {
  for (const { bench, args } of runs) {
    console.log(`\n== ${bench.name} ${args.join(' ')}`)
    const file = path.join(folder, `${bench.name}.jsonl`)
    const status = await runBench(bench, [...args, '--json', file])
    if (status !== 0) failed.push(`${bench.name} ended with status ${status}`)
    figures[bench.name] = readFigures(file)
  }
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
const ratios = runs.flatMap(({ bench }) => computeRatios(bench.name, figures[bench.name] ?? []))
report(ratios)

function selectRuns(): { bench: Bench; args: readonly string[] }[] {
  const names = values.only?.split(',')
  const unknown = names?.filter((name) => !benches.some((bench) => bench.name === name)) ?? []
  if (unknown.length > 0) throw new Error(`--only: no bench is called ${unknown.join(', ')}`)
  const kind = values.check ? 'check' : values.short ? 'short' : 'full'
  return benches.flatMap((bench) => {
    const args = bench[kind]
    return args === undefined || names?.includes(bench.name) === false ? [] : [{ bench, args }]
  })
}

function runBench(bench: Bench, args: readonly string[]): Promise<number | string> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, `${bench.name}.ts`), ...args], {
    stdio: 'inherit',
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
}

function report(measured: readonly Ratio[]): void {
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
  const machine = `Node.js ${process.version}, ${os.availableParallelism()} cores, load ${loadBefore} before and ${load()} after`
  console.log(`\n${machine}, ${minutes} minutes\n\n${formatRatios(measured)}\n`)
  fs.writeFileSync(values.json, JSON.stringify({ machine, figures, ratios: measured }, null, 2))
  console.log(`All figures: ${values.json}`)
  const problems = values.check && !values.record ? findRegressions(recorded(), measured) : failed
  if (values.record) record(measured)
  for (const problem of problems) console.log(`FAILED: ${problem}`)
  if (values.check && !values.record) console.log(`${recorded().length - problems.length} ratios are in their bounds`)
  if (problems.length > 0) process.exitCode = 1
}

/** Of the benches that run, or of the others. */
function recorded(ofThisRun = true): RecordedRatio[] {
  const all = JSON.parse(fs.readFileSync(recordedFile, 'utf8')) as RecordedRatio[]
  return all.filter(({ bench }) => runs.some((run) => run.bench.name === bench) === ofThisRun)
}

/** Only processor time: the clock of a busy machine means little. */
function record(measured: readonly Ratio[]): void {
  const written = measured
    .filter(({ quantity }) => quantity.startsWith('processor'))
    .map(({ bench, case: name, subject, reference, quantity, better, median }) => {
      return { bench, case: name, subject, reference, quantity, better, ratio: Number(median.toPrecision(3)) }
    })
  const kept = fs.existsSync(recordedFile) ? recorded(false) : []
  fs.writeFileSync(recordedFile, `${JSON.stringify([...kept, ...written], null, 2)}\n`)
  console.log(`${written.length} ratios were written to ${recordedFile}`)
}

function load(): string {
  return os.loadavg()[0]!.toFixed(1)
}
