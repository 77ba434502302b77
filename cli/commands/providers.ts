import type { ProviderBody, ProviderTest } from '../../src/contract/models.ts'
import { providerFormats } from '../../src/contract/provider-formats.ts'
import { type Context, readTextFile } from '../context.ts'
import { type CliCommand, assertConfirmed } from '../define.ts'
import { FailedError, UsageError } from '../errors.ts'
import type { Output } from '../output.ts'

/** The other options are fields of the declaration. */
interface ProviderOptions {
  keyEnv?: string
  keyFile?: string
  credentialsFile?: string
  from?: string
  [field: string]: string | undefined
}

/** `portico provider …` */
export function addProviderCommands(program: CliCommand): void {
  const provider = program.command('provider').description('AI model providers and their keys.')
  addReads(provider)
  addAdd(provider)
  addTest(provider)
  for (const [name, enabled, description] of [
    ['enable', true, 'Enable a provider again.'],
    ['disable', false, 'Disable a provider. Calls use other deployments of its models, if there are any.'],
  ] as const) {
    provider
      .command(`${name} <id>`)
      .description(description)
      .examples(`portico provider ${name} openai`)
      .run(async ({ output, operator }, _options: object, id: string) => {
        const changed = await operator().send<ProviderBody>('PATCH', pathOf(id), { enabled })
        output.result(changed, () => printProvider(output, changed))
      })
  }
  provider
    .command('remove <id>')
    .description("Remove the operator's declaration of a provider with its key.")
    .option('--yes', 'confirm (required)')
    .examples('portico provider remove mistral --yes')
    .run(async ({ output, operator }, options: { yes?: boolean }, id: string) => {
      assertConfirmed(options.yes, `This removes provider ${id} and its key.`)
      await operator().send('DELETE', pathOf(id))
      output.result({ removed: id }, () => output.line(`Removed provider ${id}.`))
    })
}

function addReads(provider: CliCommand) {
  provider
    .command('list')
    .description('List providers.')
    .examples('portico provider list')
    .run(async ({ output, operator }) => {
      const answer = await operator().get<{ data: ProviderBody[] }>('/api/providers')
      output.result(answer, () =>
        output.list(
          answer.data,
          {
            ID: 'id',
            FORMAT: ({ format, flavour }) => (flavour === undefined ? format : `${format}/${flavour}`),
            HOSTING: 'hosting',
            ENABLED: 'enabled',
            KEY: ({ apiKeyLastFour }) => (apiKeyLastFour === null ? null : `…${apiKeyLastFour}`),
            'DECLARED BY': 'origin',
            ADDRESS: 'baseUrl',
          },
          'There is no provider. Add one with: portico provider add ID --format openai --key-env NAME',
        ),
      )
    })
  provider
    .command('show <id>')
    .description('Show a provider, with the last four characters of its key.')
    .examples('portico provider show openai --json')
    .run(async ({ output, operator }, _options: object, id: string) => {
      const found = await operator().get<ProviderBody>(pathOf(id))
      output.result(found, () => printProvider(output, found))
    })
}

function addAdd(provider: CliCommand) {
  provider
    .command('add <id>')
    .alias('set')
    .description('Declare a provider or replace its declaration. The stored key is kept unless a new one is given.')
    .option('--format <format>', providerFormats.join(', '))
    .option('--flavour <flavour>', 'preset of an OpenAI-compatible host: mistral, groq, deepseek …')
    .option('--base-url <url>', 'address of its API')
    .option('--region <region>', 'region, for receipts and for Bedrock and Vertex')
    .option('--project <project>', 'Google Cloud project')
    .option('--api-version <version>', 'Azure: API version')
    .option('--hosting <hosting>', 'eu, us, global, local or another word; only eu serves eu/ ids')
    .option('--models <kind>', 'snapshot, discovered or declared')
    .option('--key-env <name>', "environment variable that holds the provider's key")
    .option('--key-file <file>', "file that holds the provider's key; - for standard input")
    .option('--credentials-file <file>', 'AWS keys or the service account of Google')
    .option('--from <file>', 'JSON with any fields of PUT /api/providers/{id}; options win over it')
    .examples(
      'portico provider add openai --format openai --key-env OPENAI_API_KEY',
      'portico provider add mistral-eu --format openai --flavour mistral --hosting eu --key-file ./key',
      'portico provider add lab --format openai --base-url http://10.0.0.5:8000/v1 --hosting local --models discovered',
    )
    .run(async (context, options: ProviderOptions, id: string) => {
      const body = await toBody(context, options)
      const changed = await context.operator().send<ProviderBody>('PUT', pathOf(id), body)
      context.output.result(changed, () => printProvider(context.output, changed))
    })
}

function addTest(provider: CliCommand) {
  provider
    .command('test <id>')
    .description('Make one small real call, to check the address, the key and the model. The provider bills it to you.')
    .option('--model <id>', 'model or deployment to call; default: the cheapest chat model of the provider')
    .examples('portico provider test openai', 'portico provider test openai --model gpt-5-mini')
    .run(async ({ output, operator }, { model }: { model?: string }, id: string) => {
      const body = model === undefined ? {} : { model }
      const tested = await operator().send<ProviderTest>('POST', `${pathOf(id)}/test`, body)
      const { error, deployment, durationMs } = tested
      output.result(tested, () => {
        if (error === null) output.line(`${deployment} answered in ${durationMs} ms.`)
      })
      if (error === null) return
      const status = error.status === null ? '' : `, status ${error.status}`
      throw new FailedError(`${deployment} failed after ${durationMs} ms (${error.class}${status}): ${error.message}`)
    })
}

async function toBody(context: Context, options: ProviderOptions): Promise<Record<string, unknown>> {
  const { keyEnv: _keyEnv, keyFile: _keyFile, credentialsFile, from, ...declaration } = options
  const apiKey = await readKey(context, options)
  return {
    ...(from === undefined ? {} : readJsonFile(from)),
    ...declaration,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(credentialsFile === undefined
      ? {}
      : { credentials: readTextFile(credentialsFile, '--credentials-file').trim() }),
  }
}

async function readKey({ process }: Context, { keyEnv, keyFile }: ProviderOptions): Promise<string | undefined> {
  if (keyEnv !== undefined) {
    const key = process.environment[keyEnv]?.trim()
    if (!key) throw new UsageError(`--key-env: the environment has no ${keyEnv}.`)
    return key
  }
  if (keyFile === undefined) return undefined
  const key = (keyFile === '-' ? await process.readInput() : readTextFile(keyFile, '--key-file')).trim()
  if (key === '') throw new UsageError('--key-file: the key is empty.')
  return key
}

/** The JSON object in the file of `--from`. */
export function readJsonFile(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readTextFile(file, '--from'))
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  } catch (error) {
    if (error instanceof UsageError) throw error
  }
  throw new UsageError(`--from: ${file} does not contain a JSON object.`)
}

function printProvider(output: Output, provider: ProviderBody) {
  output.fields([
    ['id', provider.id],
    ['format', provider.format],
    ['flavour', provider.flavour],
    ['enabled', provider.enabled],
    ['hosting', provider.hosting],
    ['region', provider.region],
    ['address', provider.baseUrl],
    ['models', provider.models],
    ['key', provider.apiKeyLastFour === null ? 'none' : `…${provider.apiKeyLastFour}`],
    ['extra headers', provider.headerNames.join(', ') || 'none'],
    ['credentials', provider.hasCredentials],
    ['declared by', provider.origin],
  ])
}

function pathOf(id: string): string {
  return `/api/providers/${encodeURIComponent(id)}`
}
