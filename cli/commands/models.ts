import type { ModelBody } from '../../src/contract/models.ts'
import { type CliCommand, assertConfirmed, collect, definedFields, givenFields, parseWhole } from '../define.ts'
import type { Output } from '../output.ts'
import { printDeployment } from './deployments.ts'
import { readJsonFile } from './providers.ts'

/** `portico model …` */
export function addModelCommands(program: CliCommand): void {
  const model = program.command('model').description('Models and the plans that may call them.')
  addModelReads(model)
  addModelChanges(model)
}

function addModelReads(model: CliCommand) {
  model
    .command('list')
    .description('List models that can be called.')
    .option('--all', 'include models that cannot be called')
    .examples('portico model list', 'portico model list --all --json')
    .run(async ({ output, operator }, options: { all?: boolean }) => {
      const answer = await operator().get<{ data: ModelBody[]; problems: string[] }>('/api/models')
      const shown = options.all ? answer.data : answer.data.filter(({ callableIds }) => callableIds.length > 0)
      output.result({ ...answer, data: shown }, () => {
        output.list(
          shown,
          {
            ID: 'id',
            KIND: 'kind',
            TIER: 'tier',
            PLANS: ({ plans }) => plans.join(','),
            'CALLABLE AS': ({ callableIds }) => callableIds.join(' '),
            DEPLOYMENTS: ({ deployments }) => deployments.length,
            'DECLARED BY': 'origin',
          },
          'No model can be called. Add a provider with: portico provider add ID --format openai --key-env NAME',
        )
        for (const problem of answer.problems) output.note(`problem: ${problem}`)
      })
    })
  model
    .command('show <id>')
    .description('Show a model with its deployments, prices and health.')
    .examples('portico model show gpt-5-mini')
    .run(async ({ output, operator }, _options: object, id: string) => {
      const found = await operator().get<ModelBody>(modelPath(id))
      output.result(found, () => printModel(output, found))
    })
}

/** The other options are fields of the declaration. */
interface ModelOptions {
  alias?: string[]
  plan?: string[]
  maximumOutputTokens?: number
  from?: string
}

function addModelChanges(model: CliCommand) {
  model
    .command('add <id>')
    .alias('set')
    .description("Declare a model or override its catalogue data. Replaces the operator's earlier declaration.")
    .option('--kind <kind>', 'chat or embedding')
    .option('--tier <tier>', 'base or premium')
    .option('--owned-by <name>', 'owner that the models list shows')
    .option('--alias <id>', 'another name; may be given several times', collect)
    .option('--plan <plan>', 'plan that may call it; may be given several times', collect)
    .option('--context-tokens <count>', 'size of its context', parseWhole)
    .option('--maximum-output-tokens <count>', 'longest answer', parseWhole)
    .option('--dimensions <count>', 'of embeddings', parseWhole)
    .option('--from <file>', 'JSON with any fields of PUT /api/models/{id}; options win over it')
    .examples('portico model add house-model --context-tokens 32768 --tier base --alias house')
    .run(async ({ output, operator }, options: ModelOptions, id: string) => {
      const { alias: aliases, plan: plans, maximumOutputTokens: maxOutputTokens, from, ...fields } = options
      const declared = from === undefined ? {} : readJsonFile(from)
      const given = definedFields({ ...fields, aliases, plans, maxOutputTokens })
      const body = givenFields({ ...declared, ...given }, 'Give an option.')
      const changed = await operator().send<ModelBody>('PUT', modelPath(id), body)
      output.result(changed, () => printModel(output, changed))
    })
  model
    .command('remove <id>')
    .description("Remove the operator's declaration of a model.")
    .option('--yes', 'confirm (required)')
    .examples('portico model remove house-model --yes')
    .run(async ({ output, operator }, options: { yes?: boolean }, id: string) => {
      assertConfirmed(options.yes, `This removes the declaration of model ${id}.`)
      await operator().send('DELETE', modelPath(id))
      output.result({ removed: id }, () => output.line(`Removed the declaration of model ${id}.`))
    })
}

function printModel(output: Output, model: ModelBody) {
  output.fields([
    ['id', model.id],
    ['aliases', model.aliases.join(', ') || 'none'],
    ['enabled', model.enabled],
    ['kind', model.kind],
    ['tier', model.tier],
    ['plans', model.plans.join(', ')],
    ['context tokens', model.contextTokens],
    ['output tokens at most', model.maxOutputTokens],
    ['dimensions', model.dimensions ?? undefined],
    ['callable as', model.callableIds.join(', ') || 'nothing'],
    ['declared by', model.origin],
  ])
  for (const deployment of model.deployments) {
    output.line()
    printDeployment(output, deployment)
  }
}

const modelPath = (id: string) => `/api/models/${encodeURIComponent(id)}`
