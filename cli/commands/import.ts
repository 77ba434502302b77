import type { ModelBody } from '../../src/contract/models.ts'
import type { ApiClient } from '../api-client.ts'
import { type CliCommand, collect } from '../define.ts'
import { FailedError, UsageError } from '../errors.ts'
import { type Outcome, applyPlan } from '../litellm/apply-plan.ts'
import type { ImportPlan, Remark } from '../litellm/import-plan.ts'
import { readConfig, readTeams } from '../litellm/litellm-config.ts'
import { planImport } from '../litellm/plan-import.ts'
import type { Output } from '../output.ts'

interface ImportOptions {
  teams?: string
  hosting?: string[]
  budget: string
  optIn?: boolean
  dryRun?: boolean
}

/** `portico import …` */
export function addImportCommands(program: CliCommand): void {
  const group = program.command('import').description('Move from another gateway.')
  group
    .command('litellm <file>')
    .description(
      'Import providers, models, prices and teams of LiteLLM. Existing items are never changed, so the command can be repeated.',
    )
    .option('--teams <file>', "the saved response of LiteLLM's GET /team/list; teams become organisations")
    .option('--hosting <provider=hosting>', 'where a provider runs: azure=eu; may be given several times', collect)
    .option('--budget <usd>', 'monthly budget of teams without a budget that renews', '0')
    .option('--opt-in', 'opt the new organisations in to the gateway (team administrator)')
    .option('--dry-run', 'show what would be imported; change nothing')
    .examples(
      'portico import litellm config.yaml --dry-run',
      'portico import litellm config.yaml --teams teams.json --hosting azure=eu --budget 50',
    )
    .run(async ({ output, operator, process }, options: ImportOptions, file: string) => {
      const client = operator()
      const plan = planImport(readConfig(file), options.teams === undefined ? [] : readTeams(options.teams), {
        environment: process.environment,
        hosting: parseHosting(options.hosting ?? []),
        defaultBudget: parseBudget(options.budget),
      })
      const dryRun = options.dryRun ?? false
      const items = await applyPlan(plan, { client, dryRun, optIn: options.optIn ?? false })
      const remarks = [...plan.report.remarks, ...(dryRun ? [] : await findProblems(client, plan))]
      output.result({ dryRun, items, remarks }, () => printImport(output, { dryRun, items, remarks }))
      const failed = items.filter(({ result }) => result === 'failed').length
      if (failed > 0)
        throw new FailedError(`${failed} of ${items.length} items failed. Correct them and repeat the command.`)
    })
}

function parseHosting(pairs: readonly string[]): Map<string, string> {
  return new Map(
    pairs.map((pair) => {
      const [id = '', hosting = '', more] = pair.split('=')
      if (id === '' || hosting === '' || more !== undefined)
        throw new UsageError('--hosting must have the form PROVIDER=HOSTING, for example azure=eu.')
      return [id, hosting]
    }),
  )
}

function parseBudget(text: string): string {
  if (!/^\d{1,7}(\.\d{1,12})?$/.test(text))
    throw new UsageError('--budget must be an amount in US dollars, such as 50.')
  return text
}

/** Imported deployments that cannot be called yet, with the reason that the service gives. */
async function findProblems(client: ApiClient, plan: ImportPlan): Promise<Remark[]> {
  if (plan.deployments.length === 0) return []
  const { data } = await client.get<{ data: ModelBody[] }>('/api/models')
  const planned = new Set(plan.deployments.map(({ id }) => id))
  return data
    .flatMap(({ deployments }) => deployments)
    .flatMap(({ id, problem }) =>
      problem !== null && planned.has(id)
        ? [{ kind: 'differs' as const, setting: `deployment ${id}`, text: `It cannot be called yet: ${problem}.` }]
        : [],
    )
}

const titles = { 'no-equal': 'No equal', differs: 'Different', skipped: 'Not imported' } as const

function printImport(
  output: Output,
  { dryRun, items, remarks }: { dryRun: boolean; items: Outcome[]; remarks: Remark[] },
): void {
  output.list(items, { KIND: 'kind', ID: 'id', RESULT: 'result', DETAIL: 'detail' }, 'The file has nothing to import.')
  for (const kind of ['skipped', 'differs', 'no-equal'] as const) {
    const found = remarks.filter((one) => one.kind === kind)
    if (found.length === 0) continue
    output.line()
    output.list(found, { [titles[kind].toUpperCase()]: 'setting', '': 'text' }, '')
  }
  if (dryRun) output.note('A dry run: nothing was changed.')
  const made = items.some(({ kind, result }) => kind === 'organisation' && result === 'created')
  if (made && !dryRun)
    output.note('Keys of LiteLLM are not valid here. Create one for each organisation with: portico key rotate NAME')
}
