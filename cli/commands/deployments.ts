import type { DeploymentBody, PriceBody } from '../../src/contract/models.ts'
import { type CliCommand, assertConfirmed, givenFields, parseNumber } from '../define.ts'
import type { Output } from '../output.ts'
import { readJsonFile } from './providers.ts'

/** `portico deployment …` and `portico price …` */
export function addDeploymentCommands(program: CliCommand): void {
  addDeployments(program.command('deployment').description('Where models can be called.'))
  addPrices(program.command('price').description('Prices of deployments.'))
}

function addDeployments(deployment: CliCommand) {
  deployment
    .command('list')
    .description('List deployments with their health.')
    .examples('portico deployment list')
    .run(async ({ output, operator }) => {
      const answer = await operator().get<{ data: DeploymentBody[] }>('/api/deployments')
      output.result(answer, () =>
        output.list(
          answer.data,
          {
            ID: 'id',
            MODEL: 'model',
            PROVIDER: 'provider',
            HOSTING: 'hosting',
            WEIGHT: 'weight',
            CIRCUIT: (row) => row.health.circuit,
            PROBLEM: 'problem',
          },
          'There is no deployment.',
        ),
      )
    })
  deployment
    .command('add <id>')
    .alias('set')
    .description('Declare where a model can be called, or override a deployment.')
    .option('--model <id>', 'canonical id of the model')
    .option('--provider <id>', 'the provider')
    .option('--wire-id <id>', 'id or deployment name at the provider')
    .option('--base-model <id>', 'the model behind a name of your choice')
    .option('--hosting <hosting>', 'eu, us, global, local …')
    .option('--region <region>', 'shown in receipts')
    .option('--weight <number>', 'share of the traffic', parseNumber)
    .option('--from <file>', 'JSON with any fields of PUT /api/deployments/{id}; options win over it')
    .examples('portico deployment add house-1 --model house-model --provider lab --wire-id llama-4')
    .run(async ({ output, operator }, { from, ...fields }: { from?: string }, id: string) => {
      const body = givenFields({ ...(from === undefined ? {} : readJsonFile(from)), ...fields }, 'Give an option.')
      const changed = await operator().send<DeploymentBody>('PUT', deploymentPath(id), body)
      output.result(changed, () => printDeployment(output, changed))
    })
  deployment
    .command('remove <id>')
    .description("Remove the operator's declaration of a deployment.")
    .option('--yes', 'confirm (required)')
    .examples('portico deployment remove house-1 --yes')
    .run(async ({ output, operator }, options: { yes?: boolean }, id: string) => {
      assertConfirmed(options.yes, `This removes the declaration of deployment ${id}.`)
      await operator().send('DELETE', deploymentPath(id))
      output.result({ removed: id }, () => output.line(`Removed the declaration of deployment ${id}.`))
    })
}

function addPrices(price: CliCommand) {
  price
    .command('list <deployment>')
    .description('List the prices of a deployment, US dollars per million tokens.')
    .examples('portico price list house-1')
    .run(async ({ output, operator }, _options: object, id: string) => {
      const answer = await operator().get<{ data: PriceBody[] }>(`${deploymentPath(id)}/prices`)
      output.result(answer, () => printPrices(output, answer.data))
    })
  price
    .command('set <deployment>')
    .description('Set a price, US dollars per million tokens, valid from a point in time.')
    .requiredOption('--input <usd>', 'input tokens')
    .option('--output <usd>', 'output tokens')
    .option('--cache-read <usd>', 'cached input tokens; default: as input')
    .option('--cache-write <usd>', 'input tokens written to the cache; default: as input')
    .option(
      '--cache-write-hour <usd>',
      'written and kept for an hour; default: twice the input, if writes have a price',
    )
    .option('--reasoning <usd>', 'reasoning tokens; default: as output')
    .option('--valid-from <time>', 'ISO 8601; default: now')
    .examples('portico price set house-1 --input 0.15 --output 0.60')
    .run(async ({ output, operator }, price: object, id: string) => {
      const made = await operator().send<PriceBody>('POST', `${deploymentPath(id)}/prices`, price)
      output.result(made, () => printPrices(output, [made]))
    })
  price
    .command('remove <deployment> <price>')
    .description("Remove one of the operator's prices.")
    .option('--yes', 'confirm (required)')
    .examples('portico price remove house-1 PRICE_ID --yes')
    .run(async ({ output, operator }, options: { yes?: boolean }, id: string, priceId: string) => {
      assertConfirmed(options.yes, `This removes a price of ${id}.`)
      await operator().send('DELETE', `${deploymentPath(id)}/prices/${encodeURIComponent(priceId)}`)
      output.result({ removed: priceId }, () => output.line(`Removed price ${priceId}.`))
    })
}

/** A deployment with its traits, health and prices. */
export function printDeployment(output: Output, deployment: DeploymentBody) {
  output.fields([
    ['deployment', deployment.id],
    ['provider', deployment.provider],
    ['id at the provider', deployment.wireId],
    ['hosting', deployment.region === null ? deployment.hosting : `${deployment.hosting} (${deployment.region})`],
    ['weight', deployment.weight],
    ...describeTraits(deployment),
    ['circuit', deployment.health.circuit],
    ['problem', deployment.problem ?? 'none'],
  ])
  printPrices(output, deployment.prices)
}

/** One line for each trait, its value as JSON in the form that PUT accepts. */
function describeTraits({ reasoning, acceptsTemperature, traits }: DeploymentBody): [string, string][] {
  const { sources, ...facts } = traits
  const shown = { reasoning, acceptsTemperature, ...facts }
  return [
    ...Object.entries(shown).map(([name, value]): [string, string] => [`accepts: ${name}`, JSON.stringify(value)]),
    ...sources.map(({ source, checked }): [string, string] => ['source', `${source} (${checked})`]),
  ]
}

function printPrices(output: Output, prices: PriceBody[]) {
  output.list(
    prices,
    {
      'USD PER MILLION': ({ inForce }) => (inForce ? 'in force' : ''),
      INPUT: 'input',
      OUTPUT: 'output',
      'CACHE READ': 'cacheRead',
      'CACHE WRITE': 'cacheWrite',
      FROM: 'validFrom',
      SOURCE: 'source',
      'PRICE ID': 'id',
    },
    'The deployment has no price, so it cannot be called. Set one with: portico price set DEPLOYMENT --input USD --output USD',
  )
}

const deploymentPath = (id: string) => `/api/deployments/${encodeURIComponent(id)}`
