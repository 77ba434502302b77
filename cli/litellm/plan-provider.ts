import type { PutProvider } from '../../src/contract/models.ts'
import { readTextFile } from '../context.ts'
import type { PlannedProvider, Report } from './import-plan.ts'
import type { NamedProvider } from './provider-names.ts'
import { type Parameters, type SecretReader, textOf } from './read-values.ts'

export interface ProviderContext {
  secrets: SecretReader
  report: Report
  /** Hosting that the operator declares, by provider id. LiteLLM has no such field. */
  hosting: ReadonlyMap<string, string>
}

/** Formats that serve nothing until their hosting is declared. */
const hostingRequired: ReadonlySet<string> = new Set(['azure', 'bedrock', 'vertex'])

/** The providers of one file: entries with equal settings and keys share one. */
export function createProviders({ secrets, report, hosting }: ProviderContext) {
  const providers: PlannedProvider[] = []
  const byContent = new Map<string, PlannedProvider>()

  /** undefined: a key is missing, and the report names it. */
  function providerOf(named: NamedProvider, parameters: Parameters, setting: string): PlannedProvider | undefined {
    const declared = declare(named, parameters, secrets, setting)
    const found = declared && readSecrets(named, parameters, secrets, setting, report, declared.baseUrl !== undefined)
    if (!declared || !found) return undefined
    if (named.needsAddress && declared.baseUrl === undefined) {
      report.skipped(`${setting}.api_base`, 'This provider needs an address.')
      return undefined
    }
    const content = JSON.stringify([declared, found])
    const known = byContent.get(content)
    if (known) return known
    const id = freeId(idOf(named, declared))
    const stated = hosting.get(id)
    if (stated === undefined && hostingRequired.has(named.format))
      report.differs(
        `provider ${id}`,
        `Its models cannot be called until you state where it runs: repeat the command with --hosting ${id}=eu, us or global.`,
      )
    const declaration = {
      ...declared,
      models: 'declared' as const,
      ...(stated === undefined ? {} : { hosting: stated }),
    }
    const planned = { id, declaration, secrets: found }
    providers.push(planned)
    byContent.set(content, planned)
    return planned
  }

  function freeId(plain: string): string {
    let id = plain
    for (let count = 2; providers.some((one) => one.id === id); count++) id = `${plain}-${count}`
    return id
  }

  return { providers, providerOf }
}

function declare(
  named: NamedProvider,
  parameters: Parameters,
  secrets: SecretReader,
  setting: string,
): Partial<PutProvider> | undefined {
  const read = (field: string) => secrets.read(parameters, field, setting)
  const values = {
    baseUrl: read(textOf(parameters.api_base) === undefined ? 'base_url' : 'api_base'),
    apiVersion: read('api_version'),
    region: read(named.format === 'vertex' ? 'vertex_location' : 'aws_region_name'),
    project: read('vertex_project'),
  }
  if (Object.values(values).some(({ missing }) => missing)) return undefined
  const baseUrl = values.baseUrl.value?.replace(/\/+$/, '') ?? named.baseUrl
  const region = values.region.value ?? named.region
  // The prices of OpenAI do not apply to another host with its interface.
  const isOtherHost = named.flavour === 'openai' && baseUrl !== undefined && !/\.?api\.openai\.com(\/|$)/.test(baseUrl)
  return Object.fromEntries(
    Object.entries({
      format: named.format,
      flavour: isOtherHost ? undefined : named.flavour,
      baseUrl,
      apiVersion: named.format === 'azure' ? values.apiVersion.value : undefined,
      region: named.format === 'vertex' || named.format === 'bedrock' ? region : undefined,
      project: named.format === 'vertex' ? values.project.value : undefined,
    }).filter(([, value]) => value !== undefined),
  )
}

function readSecrets(
  named: NamedProvider,
  parameters: Parameters,
  secrets: SecretReader,
  setting: string,
  report: Report,
  hasAddress: boolean,
): PlannedProvider['secrets'] | undefined {
  const found: PlannedProvider['secrets'] = {}
  const key = secrets.read(parameters, 'api_key', setting)
  if (key.missing) return undefined
  // The key of OpenAI never goes to another host.
  const isOwnHost = !hasAddress || named.format !== 'openai'
  const apiKey = key.value ?? (named.keyEnv && isOwnHost ? secrets.fromEnvironment(named.keyEnv) : undefined)
  if (apiKey !== undefined) found.apiKey = apiKey
  else if (!named.keyOptional && isOwnHost) {
    report.skipped(
      `${setting}.api_key`,
      `There is no key, and the environment has no ${named.keyEnv}. Set it and repeat the command.`,
    )
    return undefined
  }
  const credentials = readCredentials(named, parameters, secrets, setting)
  if (credentials.missing) return undefined
  if (credentials.value !== undefined) found.credentials = credentials.value
  const headers = readHeaders(parameters, secrets, setting)
  if (headers) found.headers = headers
  return found
}

function readCredentials(
  { format }: NamedProvider,
  parameters: Parameters,
  secrets: SecretReader,
  setting: string,
): { value?: string; missing?: true } {
  if (format === 'bedrock') {
    const parts = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'].map((field) =>
      secrets.read(parameters, field, setting),
    )
    if (parts.some(({ missing }) => missing)) return { missing: true }
    const [id, secret, session] = parts.map(({ value }) => value)
    if (id === undefined || secret === undefined) return {}
    return { value: [id, secret, ...(session === undefined ? [] : [session])].join(':') }
  }
  if (format !== 'vertex') return {}
  const stated = secrets.read(parameters, 'vertex_credentials', setting)
  if (stated.value === undefined || stated.value.startsWith('{')) return stated
  return { value: readTextFile(stated.value, `${setting}.vertex_credentials`).trim() }
}

function readHeaders(
  parameters: Parameters,
  secrets: SecretReader,
  setting: string,
): Record<string, string> | undefined {
  const organisation = secrets.read(parameters, 'organization', setting).value
  const extra = (parameters.extra_headers ?? {}) as Parameters
  const headers = Object.keys(extra).flatMap((name) => {
    const { value } = secrets.read(extra, name, `${setting}.extra_headers`)
    return value === undefined ? [] : [[name.toLowerCase(), value] as const]
  })
  if (organisation !== undefined) headers.push(['openai-organization', organisation])
  return headers.length === 0 ? undefined : Object.fromEntries(headers)
}

/** The preset, or the host if there is none. */
function idOf({ prefix, format, flavour, baseUrl }: NamedProvider, declared: Partial<PutProvider>): string {
  const name = declared.flavour ?? (format === 'openai' ? undefined : format)
  if (name !== undefined) return name
  const host = flavour === undefined && baseUrl !== undefined ? undefined : URL.parse(declared.baseUrl ?? '')?.host
  return (host ?? prefix)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 50)
}
