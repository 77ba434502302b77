import { setTimeout as wait } from 'node:timers/promises'
import type { GoldenResultBody, GoldenRunBody, GoldenRunMeasures } from '../../src/contract/golden-runs.ts'
import { gateMeasures } from '../../src/contract/golden-settings.ts'
import type { ApiClient } from '../api-client.ts'
import type { Context } from '../context.ts'
import { type CliCommand, collect, parseNumber } from '../define.ts'
import { FailedError, UsageError } from '../errors.ts'
import type { Output } from '../output.ts'
import { loadItems } from '../paging.ts'

type Measure = (typeof gateMeasures)[number]
type Minimums = Partial<Record<Measure, number>>

const pollMs = 1_000
/** Questions that did not pass and are printed. */
const longestList = 100

/** `portico golden …` */
export function addGoldenCommands(program: CliCommand): void {
  const golden = program.command('golden').description('Golden questions: test the answers of a Space.')
  golden
    .command('run <space>')
    .description('Run the golden questions of a Space, wait for the end and print the measures.')
    .option(
      '--fail-under <minimum>',
      'exit with 1 below this share, such as 0.9 of passed questions or retrievalRecall=0.8 (repeatable)',
      collect,
    )
    .examples('portico golden run SPACE_ID', 'portico golden run SPACE_ID --fail-under 0.9 --fail-under factShare=0.8')
    .run(async (context, options: { failUnder?: string[] }, space: string) => {
      const minimums = readMinimums(options.failUnder ?? [])
      const path = `/api/spaces/${encodeURIComponent(space)}/golden-runs`
      const client = context.operator()
      const started = await client.send<GoldenRunBody>('POST', path)
      const run = await waitUntilEnded(context, client, `${path}/${started.id}`)
      const failed = await loadItems<GoldenResultBody>(client, `${path}/${run.id}/results?only=not_passed`, longestList)
      context.output.result(run, () => show(context.output, run, failed))
      check(run, minimums)
    })
}

/** Each is `SHARE`, for passed questions, or `MEASURE=SHARE`. */
function readMinimums(given: readonly string[]): Minimums {
  const minimums: Minimums = {}
  for (const text of given) {
    const [left, right] = text.includes('=') ? text.split('=', 2) : ['passedShare', text]
    const measure = gateMeasures.find((name) => name === left)
    if (measure === undefined)
      throw new UsageError(`--fail-under: ${left} is not a measure. Measures: ${gateMeasures.join(', ')}.`)
    const share = parseNumber(right!)
    if (share < 0 || share > 1) throw new UsageError(`--fail-under: ${right} is not a share from 0 to 1.`)
    minimums[measure] = share
  }
  return minimums
}

async function waitUntilEnded({ output, process }: Context, client: ApiClient, path: string): Promise<GoldenRunBody> {
  for (;;) {
    const run = await client.get<GoldenRunBody>(path)
    if (run.state !== 'queued' && run.state !== 'running') {
      output.progress('')
      return run
    }
    output.progress(`${run.questions.total - run.questions.pending} of ${run.questions.total} questions`)
    await wait(pollMs, undefined, { signal: process.signal })
  }
}

function show(output: Output, run: GoldenRunBody, failed: { total: number; items: GoldenResultBody[] }) {
  const { passed, total } = run.questions
  output.fields([
    ['run', run.id],
    ['state', run.state],
    ['reason', run.reason?.message],
    ['model', run.model],
    ['passed', `${passed} of ${total}`],
    ['worse than the run before', run.comparison?.worse],
    ['cost', `USD ${run.costUsd}`],
    ...gateMeasures.map((name): [string, string | undefined] => [name, asText(run.measures?.[name])]),
  ])
  if (failed.items.length === 0) return
  output.line()
  output.list(
    failed.items,
    {
      OUTCOME: 'outcome',
      'NOT REACHED': ({ failedMeasures, error }) => error ?? failedMeasures.join(', '),
      QUESTION: ({ messages }) => messages.at(-1)?.content,
    },
    '',
  )
  if (failed.items.length < failed.total) output.note(`${failed.items.length} of ${failed.total} are shown.`)
}

const asText = (share: number | null | undefined) => (typeof share === 'number' ? share.toFixed(3) : undefined)

/** Throws FailedError if the run did not complete or misses a minimum. A measure without a value misses it, as in the gate. */
function check(run: GoldenRunBody, minimums: Minimums): void {
  if (run.state !== 'completed')
    throw new FailedError(`The run is ${run.state}${run.reason ? `: ${run.reason.message}` : '.'}`)
  const missed = Object.entries(minimums).filter(([name, minimum]) => !reaches(run.measures, name as Measure, minimum))
  if (missed.length === 0) return
  const list = missed.map(
    ([name, minimum]) => `${name} is ${asText(run.measures?.[name as Measure]) ?? 'not measured'}, not ${minimum}`,
  )
  throw new FailedError(`The answers do not reach --fail-under: ${list.join('; ')}.`)
}

function reaches(measures: GoldenRunMeasures | null, name: Measure, minimum: number): boolean {
  const value = measures?.[name]
  return typeof value === 'number' && value >= minimum
}
