import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parse as parseYaml } from 'yaml'
import { ConfigError } from './config-error.ts'
import { type Environment, readSecrets, type Secrets, secretVariables } from './secrets.ts'
import { type ConfigFile, configFileSchema } from './config-schema.ts'
import { suffixProblem } from '../../contract/provider-address.ts'
import { issuerRule, isTrustedIssuer } from '../../contract/single-sign-on.ts'
import { describeIssue, sentence } from '../../contract/validation.ts'
import { notMetadata } from '../../platform/kernel/index.ts'

export { ConfigError }

/**
 * The only reader of the environment and of the configuration file. Three steps: raw text → checked file schema → one frozen
 * Config with the secrets in a separate field. Environment variables win over the file. An unknown or wrong setting is an error that
 * names it.
 */
export interface Config {
  settings: DeepReadonly<ConfigFile>
  secrets: Readonly<Secrets>
  /** Where the file was read from, for the start-up line. */
  file: string | undefined
  /** Which of `server.processes` this process is, from 1. */
  processNumber: number
  /** Settings from the file or the environment; the rest are defaults. */
  explicit: ReadonlySet<string>
  proxies: { httpProxy: string | undefined; httpsProxy: string | undefined; noProxy: string | undefined }
}

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T

/** Environment variable → path in the file. `PORT`, `HOST`, `DATABASE_URL` and `OTEL_…` are the names that platforms set. */
export const environmentSettings: Readonly<Record<string, string>> = {
  PORT: 'server.port',
  HOST: 'server.host',
  PORTICO_ROLE: 'server.role',
  PORTICO_PROCESSES: 'server.processes',
  PORTICO_PUBLIC_URL: 'server.publicUrl',
  PORTICO_MAXIMUM_JSON_BYTES: 'server.maximumJsonBytes',
  PORTICO_MAXIMUM_JSON_BYTES_IN_FLIGHT: 'server.maximumJsonBytesInFlight',
  PORTICO_SHUTDOWN_DELAY_MS: 'server.shutdownDelayMs',
  PORTICO_SHUTDOWN_GRACE_MS: 'server.shutdownGraceMs',
  PORTICO_STALLED_CLIENT_MS: 'server.stalledClientMs',
  PORTICO_SLOW_HEADERS_MS: 'server.slowHeadersMs',
  PORTICO_SLOW_BODY_MS: 'server.slowBodyMs',
  PORTICO_MAXIMUM_CONNECTIONS: 'server.maximumConnections',
  PORTICO_MAXIMUM_RUNNING_REQUESTS: 'server.maximumRunningRequests',
  PORTICO_MAXIMUM_EVENT_LOOP_DELAY_MS: 'server.maximumEventLoopDelayMs',
  PORTICO_MAXIMUM_MEMORY_PERCENT: 'server.maximumMemoryPercent',
  PORTICO_TRUST_PROXY: 'server.trustProxy',
  PORTICO_PASSWORD_SIGN_IN: 'accounts.passwordSignIn',
  PORTICO_SSO_NAME: 'accounts.singleSignOn.name',
  PORTICO_SSO_ISSUER: 'accounts.singleSignOn.issuer',
  PORTICO_SSO_CLIENT_ID: 'accounts.singleSignOn.clientId',
  PORTICO_SSO_SCOPES: 'accounts.singleSignOn.scopes',
  PORTICO_SSO_VERIFIED_CLAIM: 'accounts.singleSignOn.verifiedClaim',
  PORTICO_SSO_GROUPS_CLAIM: 'accounts.singleSignOn.groupsClaim',
  PORTICO_SSO_CREATE_ACCOUNTS: 'accounts.singleSignOn.createAccounts',
  PORTICO_SSO_ALLOWED_EMAIL_DOMAINS: 'accounts.singleSignOn.allowedEmailDomains',
  PORTICO_SSO_SESSION_HOURS: 'accounts.singleSignOn.sessionHours',
  PORTICO_METRICS_PORT: 'metrics.port',
  PORTICO_METRICS_HOST: 'metrics.host',
  OTEL_SDK_DISABLED: 'telemetry.disabled',
  OTEL_SERVICE_NAME: 'telemetry.serviceName',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'telemetry.otlp.endpoint',
  OTEL_EXPORTER_OTLP_PROTOCOL: 'telemetry.otlp.protocol',
  PORTICO_TRACES_SAMPLE_RATIO: 'telemetry.traces.sampleRatio',
  PORTICO_PROPAGATE_TRACES_TO_PROVIDERS: 'telemetry.traces.propagateToProviders',
  PORTICO_TELEMETRY_METRICS_SECONDS: 'telemetry.metrics.intervalSeconds',
  PORTICO_DATA_DIR: 'dataFolder',
  PORTICO_DATABASE_CONNECTIONS: 'database.maximumConnections',
  PORTICO_DATABASE_CONNECTION_WAIT_MS: 'database.connectionWaitMs',
  PORTICO_DATABASE_STATEMENT_TIMEOUT_MS: 'database.statementTimeoutMs',
  PORTICO_DATABASE_BACKGROUND_TIMEOUT_MS: 'database.backgroundStatementTimeoutMs',
  PORTICO_DATABASE_LOCK_TIMEOUT_MS: 'database.lockTimeoutMs',
  PORTICO_DATABASE_REPLICA_WAIT_MS: 'database.replicaWaitMs',
  PORTICO_LOG_LEVEL: 'log.level',
  PORTICO_LOG_FORMAT: 'log.format',
  PORTICO_DEMO: 'demo',
  PORTICO_OLLAMA_URL: 'ollama.url',
  PORTICO_MAXIMUM_UPLOAD_BYTES: 'documents.maximumUploadBytes',
  PORTICO_MAXIMUM_IMPORT_BYTES: 'documents.maximumImportBytes',
  PORTICO_BLOB_STORE: 'documents.blobs.kind',
  PORTICO_S3_BUCKET: 'documents.blobs.bucket',
  PORTICO_S3_REGION: 'documents.blobs.region',
  PORTICO_S3_ENDPOINT: 'documents.blobs.endpoint',
  PORTICO_EMBEDDER: 'embeddings.kind',
  PORTICO_EMBEDDING_MODEL: 'embeddings.model',
  PORTICO_EMBEDDING_FOLDER: 'embeddings.folder',
  PORTICO_EMBEDDING_DIMENSIONS: 'embeddings.dimensions',
  PORTICO_RERANKER: 'reranker.kind',
  PORTICO_RERANKER_MODEL: 'reranker.model',
  PORTICO_RERANKER_FOLDER: 'reranker.folder',
  PORTICO_INGESTION_WORKERS: 'ingestion.workers',
  PORTICO_OCR_SERVICE: 'ocr.service',
  PORTICO_OCR_URL: 'ocr.url',
  PORTICO_LEDGER_JOURNAL: 'ledger.journal',
  PORTICO_LEDGER_KEEP_ENTRIES_DAYS: 'ledger.keepEntriesDays',
  PORTICO_ADMIN_LOG_KEEP_DAYS: 'adminLog.keepDays',
  PORTICO_SEARCH_MEMORY_MEGABYTES: 'search.memoryMegabytes',
  PORTICO_SEARCH_ENGINE: 'search.engine',
  PORTICO_SEARCH_LANCE_ADDRESS: 'search.lanceAddress',
  PORTICO_CA_FILE: 'network.caFile',
  PORTICO_WEBHOOK_NETWORKS: 'network.webhookNetworks',
  PORTICO_IMPORT_NETWORKS: 'network.importNetworks',
  PORTICO_TOOL_NETWORKS: 'network.toolNetworks',
  PORTICO_MAIL_HOST: 'mail.host',
  PORTICO_MAIL_PORT: 'mail.port',
  PORTICO_MAIL_ENCRYPTION: 'mail.encryption',
  PORTICO_MAIL_USER: 'mail.user',
  PORTICO_MAIL_FROM: 'mail.from',
}

/** Read by the command line and by tests; they may be set in the same shell. */
const otherVariables = ['PORTICO_CONFIG', 'PORTICO_URL', 'PORTICO_API_KEY', 'PORTICO_SPACE_ID', 'PORTICO_ENDPOINT_ID']
const testVariables = ['PORTICO_SHARED_DATA', 'PORTICO_TEST_DATABASE_URL', 'PORTICO_TEST_POOLER']

/** Default name of the file, looked for in the working directory. */
const defaultFile = 'portico.yaml'

/** Settings of the command line, by their names in the file: they win over the environment. */
export type StartSettings = Readonly<Partial<Record<'server.role' | 'server.processes', string>>>

/** Reads and checks everything. Throws ConfigError. */
export function loadConfig(
  environment: Environment = process.env,
  workingFolder: string = process.cwd(),
  { settings: given = {}, processNumber = 1 }: { settings?: StartSettings; processNumber?: number } = {},
): Config {
  assertKnownVariables(environment)
  const file = findFile(environment, workingFolder)
  const raw = file === undefined ? {} : readFile(file)
  const explicit = new Set(flattenKeys(raw))
  if (explicit.has('ledger.journalFolder')) throw noJournalFolder()
  for (const [variable, setting] of Object.entries(environmentSettings)) {
    const value = environment[variable]
    if (value === undefined || value === '') continue
    setPath(raw, setting, value)
    explicit.add(setting)
  }
  for (const [setting, value] of Object.entries(given)) {
    setPath(raw, setting, value)
    explicit.add(setting)
  }
  const parsed = configFileSchema.safeParse(raw, { error: describeIssue })
  if (!parsed.success) throw new ConfigError(describeSetting(parsed.error.issues[0]!, environment, given))
  const settings = { ...parsed.data, dataFolder: path.resolve(workingFolder, parsed.data.dataFolder) }
  const secrets = readSecrets(environment, settings, workingFolder)
  assertSignIn(settings, secrets)
  assertNoMetadataAddress(settings)
  assertProviderAddresses(settings)
  assertDirectUrls(secrets)
  assertServerForRoles(settings, secrets)
  assertEmbeddedForJournal(settings, secrets)
  assertSharedPort(settings)
  for (const provider of settings.providers) delete provider.apiKey
  return Object.freeze({
    settings: deepFreeze(settings),
    secrets: Object.freeze(secrets),
    file,
    processNumber,
    explicit,
    proxies: {
      httpProxy: environment.http_proxy ?? environment.HTTP_PROXY,
      httpsProxy: environment.https_proxy ?? environment.HTTPS_PROXY,
      noProxy: environment.no_proxy ?? environment.NO_PROXY,
    },
  })
}

function assertKnownVariables(environment: Environment) {
  const known = new Set([
    ...Object.keys(environmentSettings),
    ...Object.values(secretVariables),
    ...Object.values(secretVariables).map((name) => `${name}_FILE`),
    ...otherVariables,
    ...testVariables,
  ])
  for (const variable of Object.keys(environment)) {
    if (!variable.startsWith('PORTICO_') || known.has(variable)) continue
    // Providers in the file may name such variables with apiKeyEnv.
    if (/^PORTICO_[A-Z0-9_]*_API_KEY$/.test(variable)) continue
    if (variable === 'PORTICO_LEDGER_JOURNAL_FOLDER') throw noJournalFolder()
    throw new ConfigError(
      `${variable} is not a setting of Portico. Did you mean ${nearest(variable, [...known])}? docs/reference/configuration.md lists all.`,
    )
  }
}

function findFile(environment: Environment, workingFolder: string): string | undefined {
  const named = environment.PORTICO_CONFIG
  const file = path.resolve(workingFolder, named ?? defaultFile)
  if (existsSync(file)) return file
  if (named) throw new ConfigError(`PORTICO_CONFIG names ${file}, which does not exist.`)
  return undefined
}

function readFile(file: string): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${(error as Error).message}`)
  }
  let parsed: unknown
  try {
    parsed = parseYaml(text)
  } catch (error) {
    throw new ConfigError(`${file} is not valid YAML: ${(error as Error).message}`)
  }
  if (parsed === null || parsed === undefined) return {}
  if (typeof parsed !== 'object' || Array.isArray(parsed))
    throw new ConfigError(`${file} must hold a mapping of settings.`)
  return parsed as Record<string, unknown>
}

function assertSignIn({ accounts, server }: ConfigFile, { ssoClientSecret }: Secrets) {
  const { singleSignOn, passwordSignIn } = accounts
  if (!singleSignOn) {
    if (!passwordSignIn)
      throw new ConfigError('accounts.passwordSignIn can be false only if accounts.singleSignOn is configured.')
    return
  }
  if (server.publicUrl === undefined)
    throw new ConfigError(
      'accounts.singleSignOn needs server.publicUrl: the provider redirects people to this address.',
    )
  if (ssoClientSecret === undefined)
    throw new ConfigError('accounts.singleSignOn needs the client secret in PORTICO_SSO_CLIENT_SECRET.')
  if (!isTrustedIssuer(singleSignOn.issuer)) throw new ConfigError(`accounts.singleSignOn.issuer ${issuerRule}.`)
}

/** A direct URL alone would be ignored. */
function assertDirectUrls(secrets: Secrets) {
  for (const name of ['databaseUrl', 'corpusDatabaseUrl'] as const) {
    const direct = name === 'databaseUrl' ? 'databaseDirectUrl' : 'corpusDatabaseDirectUrl'
    if (secrets[direct] === undefined || secrets[name] !== undefined) continue
    throw new ConfigError(
      `${secretVariables[direct]} is the server behind the pooler of ${secretVariables[name]}, which is not set.`,
    )
  }
  if (secrets.databaseReplicaUrl !== undefined && secrets.databaseUrl === undefined)
    throw new ConfigError(
      `${secretVariables.databaseReplicaUrl} is a standby of the server of ${secretVariables.databaseUrl}, which is not set.`,
    )
}

/** Each process would take another free port. */
function assertSharedPort({ server: { processes, port } }: ConfigFile) {
  if (processes === 1) return
  if (port === 0)
    throw new ConfigError('server.port: name the port that the processes share; 0 would give each a different one.')
  if (process.platform !== 'linux')
    throw new ConfigError(
      'server.processes: several processes share a port on Linux only. Leave it at 1, and start one instance for each port.',
    )
  if (!hasReusePort(process.versions.node))
    throw new ConfigError(
      'server.processes: several processes share a port with Node.js 22.12, 23.1 or later. Leave it at 1, or use the Node.js that npm ci installs.',
    )
}

/** Whether `listen` has the option `reusePort`; earlier versions ignore it. */
export function hasReusePort(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)
}

/** The embedded databases belong to one process, which then has to do everything. */
function assertServerForRoles(
  { server: { role, processes } }: ConfigFile,
  { databaseUrl, corpusDatabaseUrl }: Secrets,
) {
  // One logical database on a server does not suffice: the other one is embedded.
  if (databaseUrl !== undefined) return
  const missing = corpusDatabaseUrl === undefined ? 'DATABASE_URL' : 'DATABASE_URL as well'
  const remedy = `Set ${missing} to a PostgreSQL server, or leave`
  if (role !== 'all')
    throw new ConfigError(
      `the role ${role} needs a PostgreSQL server, since the embedded database belongs to one process. ${remedy} server.role (--role, PORTICO_ROLE) at all.`,
    )
  if (processes > 1)
    throw new ConfigError(
      `${processes} processes need a PostgreSQL server, since the embedded database belongs to one process. ${remedy} server.processes (--processes, PORTICO_PROCESSES) at 1.`,
    )
}

function assertEmbeddedForJournal({ ledger }: ConfigFile, { databaseUrl }: Secrets) {
  if (databaseUrl === undefined || ledger.journal !== 'local') return
  throw new ConfigError(
    'ledger.journal (PORTICO_LEDGER_JOURNAL) cannot be local with a PostgreSQL server, which keeps every bill itself. Remove the setting, or set it to auto.',
  )
}

/** A setting of earlier versions. */
function noJournalFolder(): ConfigError {
  return new ConfigError(
    'ledger.journalFolder (PORTICO_LEDGER_JOURNAL_FOLDER) does not exist any more: there is no journal in front of a PostgreSQL server. Remove it.',
  )
}

/** A metadata service gives out the credentials of this machine; answers and errors of a provider are visible to its users. */
function assertNoMetadataAddress({ providers, ollama, documents, accounts, telemetry, ocr }: ConfigFile) {
  const addresses: [string, string | undefined][] = [
    ...providers.map((provider, index): [string, string | undefined] => [
      `providers.${index}.baseUrl`,
      provider.baseUrl,
    ]),
    ['ollama.url', ollama.url],
    ['documents.blobs.endpoint', documents.blobs.endpoint],
    ['accounts.singleSignOn.issuer', accounts.singleSignOn?.issuer],
    ['telemetry.otlp.endpoint', telemetry.otlp.endpoint],
    ['ocr.url', ocr.url],
  ]
  for (const [setting, address] of addresses) {
    const refusal = address && notMetadata.hostRefusal(new URL(address).hostname)
    if (refusal) throw new ConfigError(`${setting} names ${refusal}, which Portico does not connect to.`)
  }
}

function assertProviderAddresses({ providers }: ConfigFile) {
  for (const [index, { baseUrl, format }] of providers.entries()) {
    const problem = baseUrl && suffixProblem(baseUrl, format)
    if (problem) throw new ConfigError(`providers.${index}.baseUrl ${problem.error}.`)
  }
}

/** With the name by which the operator has set it. */
function describeSetting(
  issue: { path: PropertyKey[]; message: string; code: string; keys?: string[] },
  environment: Environment,
  given: StartSettings,
): string {
  const place = issue.path.join('.')
  if (place in given) return sentence(place.replace('server.', '--'), issue.message)
  if (issue.code === 'unrecognized_keys') {
    const setting = [...issue.path, issue.keys?.[0]].join('.')
    return `${setting} is not a setting of Portico; docs/reference/configuration.md lists all.`
  }
  // An item of a list (`server.trustProxy.0`) comes from the variable of the list.
  const variable = Object.entries(environmentSettings).find(
    ([name, setting]) => (setting === place || place.startsWith(`${setting}.`)) && environment[name],
  )?.[0]
  return sentence(variable ?? place, issue.message)
}

function setPath(target: Record<string, unknown>, setting: string, value: string) {
  const parts = setting.split('.')
  let node = target
  for (const part of parts.slice(0, -1)) node = (node[part] ??= {}) as Record<string, unknown>
  node[parts.at(-1)!] = value
}

function flattenKeys(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [prefix]
  return Object.entries(value).flatMap(([key, child]) => flattenKeys(child, prefix === '' ? key : `${prefix}.${key}`))
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) deepFreeze(child)
  return Object.freeze(value)
}

/** The known name with the fewest different characters, for the hint. */
function nearest(name: string, known: string[]): string {
  const distance = (other: string) => {
    let row = Array.from({ length: other.length + 1 }, (_, index) => index)
    for (let i = 1; i <= name.length; i++) {
      const next = [i]
      for (let j = 1; j <= other.length; j++) {
        next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (name[i - 1] === other[j - 1] ? 0 : 1)))
      }
      row = next
    }
    return row.at(-1)!
  }
  return known.reduce((best, candidate) => (distance(candidate) < distance(best) ? candidate : best))
}
