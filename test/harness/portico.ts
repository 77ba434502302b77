import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { LookupFunction } from 'node:net'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { loadConfig } from '../../src/app/config/index.ts'
import { type Clock, type Log, silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import type { Parts } from '../../src/app/compose.ts'
import type { PinnedModel } from '../../src/documents/retrieval/index.ts'
import { createService } from '../../src/app/roles/all.ts'
import { openStorage } from '../../src/app/storage.ts'
import { type DatabasePlace, freshDatabasePlace, serviceVariables } from './database-place.ts'
import { lendDatabases } from './database-pool.ts'
import { bothWithStatements, type TestDatabase } from './statements.ts'
import { quickHashing } from './quick-hashing.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

export { removeFolder } from './database-place.ts'
export { freePort } from './free-port.ts'

/** Access to a running Portico: base address, operator token, and organisations created through the API. */
export interface TestPortico {
  url: string
  metricsUrl: string
  operatorToken: string
  /** Every part of the service; its databases also run statements themselves. */
  service: Parts & Record<'control' | 'corpus', TestDatabase>
  /** The lines that a start prints. */
  describe(): string
  place: DatabasePlace
  operator: ApiClient
  createOrganisation(fields?: Record<string, unknown>): Promise<TestOrganisation>
  createSpace(organisation: TestOrganisation, fields?: Record<string, unknown>): Promise<TestSpace>
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface TestOrganisation {
  id: string
  apiKey: string
  client: ApiClient
}

export interface TestSpace {
  id: string
  endpointId: string
}

export interface ApiAnswer {
  status: number
  headers: Headers
  // Tests read bodies of many shapes; each asserts the one that it expects.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

/** Sends JSON or a FormData; resolves to the parsed body (text where it is not JSON). */
export type ApiClient = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ApiAnswer>

export interface StartOptions {
  /** Content of portico.yaml. */
  settings?: Record<string, unknown>
  environment?: Record<string, string>
  clock?: Clock
  log?: Log
  /** Resolves the names of hosts in requests to models; without it each has a public address. */
  nameLookup?: LookupFunction
  /** Ended spans are exported so often. */
  exportSpansEveryMs?: number
  /** The local model that the console installs, and its hub. */
  localModelSource?: { model: PinnedModel; hubUrl: string }
  /** Reuse the data of an earlier start; it is not removed at the end. */
  place?: DatabasePlace
}

const enterprise = {
  name: 'Test organisation',
  plan: 'enterprise',
  monthlyBudgetUsd: '100',
  gatewayEnabled: true,
}

const publicNames: LookupFunction = (_name, _options, callback) =>
  callback(null, [{ address: '93.184.215.14', family: 4 }])

/** Starts the whole service in this process on free loopback ports, with real databases and background work. */
export async function startPortico(options: StartOptions = {}): Promise<TestPortico> {
  const databases = options.place || options.settings?.['database'] ? undefined : await lendDatabases()
  const place = options.place ?? databases?.place ?? (await freshDatabasePlace())
  const operatorToken = `test-operator-${randomBytes(16).toString('hex')}`
  const config = loadConfig(...configuration(place, operatorToken, options))
  const {
    log = silentLog,
    clock = systemClock,
    nameLookup = publicNames,
    exportSpansEveryMs,
    localModelSource,
  } = options
  const storage = databases && openStorage({ config, log, clock, databases })
  const service = await createService({
    config,
    log,
    clock,
    storage,
    passwordHashing: quickHashing,
    nameLookup,
    exportSpansEveryMs,
    localModelSource,
  })
  const { url, metricsUrl } = await service.start()
  const operator = createApiClient(url, operatorToken)
  let stopped: Promise<void> | undefined
  const stop = () =>
    (stopped ??= (async () => {
      await service.stop()
      if (!options.place) await place.remove()
    })())
  return {
    url,
    metricsUrl: metricsUrl!,
    operatorToken,
    service: bothWithStatements(service.parts),
    describe: () => service.describe(),
    place,
    operator,
    ...organisationMakers(url, operator),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** `PORTICO_TEST_LEDGER_JOURNAL` sets `ledger.journal` for the embedded databases of a whole run; without it the default applies. */
function ledgerSetting(databaseUrl: string | undefined): Record<string, string> {
  const journal = process.env['PORTICO_TEST_LEDGER_JOURNAL']
  return journal === undefined || databaseUrl !== undefined ? {} : { PORTICO_LEDGER_JOURNAL: journal }
}

const hasDelayLimit = ({ server }: Record<string, unknown>) =>
  typeof server === 'object' && server !== null && 'maximumEventLoopDelayMs' in server

function configuration(
  place: DatabasePlace,
  operatorToken: string,
  { settings = {}, environment = {} }: StartOptions,
): [Record<string, string>, string] {
  const folder = makeTemporaryFolder('config')
  // JSON is YAML.
  writeFileSync(path.join(folder, 'portico.yaml'), JSON.stringify(settings))
  return [
    {
      PORT: '0',
      PORTICO_METRICS_PORT: '0',
      ...serviceVariables(place, operatorToken),
      // Machines of tests are busy at times. The tests of overload set it.
      ...(hasDelayLimit(settings) ? {} : { PORTICO_MAXIMUM_EVENT_LOOP_DELAY_MS: '60000' }),
      ...ledgerSetting(place.databaseUrl),
      ...environment,
    },
    folder,
  ]
}

/** Organisations and Spaces through the operator API of any running Portico. */
export function organisationMakers(url: string, operator: ApiClient) {
  return {
    async createOrganisation(fields: Record<string, unknown> = {}): Promise<TestOrganisation> {
      const { gatewayOptIn = true, ...given } = fields
      const made = expectStatus(await operator('POST', '/api/organisations', { ...enterprise, ...given }), 201)
      if (gatewayOptIn)
        expectStatus(await operator('PUT', `/api/organisations/${made.id}/opt-in`, { optIn: true }), 200)
      const { key } = expectStatus(await operator('POST', `/api/organisations/${made.id}/api-key`), 201)
      return { id: made.id, apiKey: key, client: createApiClient(url, key) }
    },
    async createSpace(organisation: TestOrganisation, fields: Record<string, unknown> = {}): Promise<TestSpace> {
      const given = { organisationId: organisation.id, name: 'Test Space', model: 'portico/offline', ...fields }
      const space = expectStatus(await operator('POST', '/api/spaces', given), 201)
      const published = expectStatus(await operator('POST', `/api/spaces/${space.id}/publish`), 200)
      return { id: space.id, endpointId: published.endpointId }
    },
  }
}

export function createApiClient(url: string, key: string): ApiClient {
  return async (method, target, body, headers = {}) => {
    const isForm = body instanceof FormData
    const init: RequestInit = {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : isForm ? body : JSON.stringify(body),
    }
    const response = await fetch(url + target, init)
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: parseOrText(text) }
  }
}

/** The body of a response that must have this status. */
export function expectStatus(answer: ApiAnswer, status: number): ApiAnswer['body'] {
  if (answer.status !== status)
    throw new Error(`expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** A file for a multipart upload. */
export function uploadForm(
  content: string | Uint8Array,
  fileName: string,
  fields: Record<string, string> = {},
): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new Blob([content as string]), fileName)
  return form
}

/** Longest wait for a document to leave `processing`; machines are shared and slow at times. */
const processingDeadlineMs = 60_000

/** Reads a document until it is no longer processing. */
export async function waitForDocument(client: ApiClient, id: string): Promise<ApiAnswer['body']> {
  const deadline = Date.now() + processingDeadlineMs
  for (;;) {
    const document = expectStatus(await client('GET', `/v1/documents/${id}`), 200)
    if (document.status !== 'processing') return document
    if (Date.now() > deadline) throw new Error(`document ${id} is still processing`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

export interface PorticoProcess {
  url: string
  child: ChildProcess
  /** Everything written to standard output and error so far. */
  output(): string
  /** Sends the signal and waits for the end; resolves to the exit code (null after SIGKILL). */
  kill(signal: NodeJS.Signals): Promise<number | null>
}

/** Portico in a separate process, with organisations created through its API. */
export interface SeparatePortico extends Pick<TestPortico, 'url' | 'operator' | 'operatorToken'> {
  pid: number
  place: DatabasePlace
  output: PorticoProcess['output']
  kill: PorticoProcess['kill']
  createOrganisation: TestPortico['createOrganisation']
  createSpace: TestPortico['createSpace']
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts the whole service as `startPortico` does, but in another process: for tests that measure its event loop or its memory,
 * or end it. Without `place` it has fresh databases, removed at the end.
 */
export async function startSeparatePortico({
  settings = {},
  environment = {},
  place: given,
  sources,
}: Pick<StartOptions, 'settings' | 'environment' | 'place'> & {
  /** The folder of another version. */
  sources?: string | undefined
} = {}): Promise<SeparatePortico> {
  const place = given ?? (await freshDatabasePlace())
  const operatorToken = `test-operator-${randomBytes(16).toString('hex')}`
  const [variables, folder] = configuration(place, operatorToken, { settings, environment })
  const environmentOfProcess = {
    PORTICO_CONFIG: path.join(folder, 'portico.yaml'),
    PORTICO_LOG_LEVEL: 'warn',
    ...variables,
  }
  const running = await spawnPortico(environmentOfProcess, [], undefined, sources)
  const operator = createApiClient(running.url, operatorToken)
  let stopped: Promise<void> | undefined
  const stop = () =>
    (stopped ??= (async () => {
      if (running.child.exitCode === null && running.child.signalCode === null) await running.kill('SIGTERM')
      if (!given) await place.remove()
    })())
  return {
    url: running.url,
    pid: running.child.pid!,
    operatorToken,
    operator,
    place,
    output: running.output,
    kill: running.kill,
    ...organisationMakers(running.url, operator),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

const repository = path.resolve(import.meta.dirname, '../..')

/** Environment of services that presume a silent instance dead after 3 s instead of 10 s, for tests that wait for it. */
export const soonPresumedDead = { TEST_INSTANCE_EXPIRY_MS: '3000' }
/** Environment of services that repeat their background work ten times as often: see hasty-clock.ts. */
export const hasty = { TEST_HASTY: 'true' }
const entryFor = (environment: Record<string, string>) =>
  'TEST_INSTANCE_EXPIRY_MS' in environment || 'TEST_HASTY' in environment
    ? 'test/harness/timed-portico-process.ts'
    : 'src/main.ts'

/** Starts Portico as a separate process, for tests that kill it. Resolves when it listens. */
export async function spawnPortico(
  environment: Record<string, string>,
  options: readonly string[] = [],
  onOutput: (text: string) => void = () => {},
  sources: string = repository,
): Promise<PorticoProcess> {
  // As an operator starts it: memory and processor time depend on the settings there.
  // A test that fails leaves its services running: they stop after the process of its file.
  const stopWith = `--stop-with=${process.pid}`
  const child = spawn(
    path.join(sources, 'bin/run'),
    [path.join(sources, entryFor(environment)), stopWith, ...options],
    {
      cwd: environment.PORTICO_DATA_DIR ?? repository,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        // Compiled modules take a third of the time of a start.
        ...(process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
        PORT: '0',
        PORTICO_METRICS_PORT: '0',
        PORTICO_LOG_LEVEL: 'info',
        ...ledgerSetting(environment.DATABASE_URL),
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let output = ''
  const ended = once(child, 'exit') as Promise<[number | null]>
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      onOutput(chunk.toString())
      const found = /listening on (http:\S+)/.exec(output)
      if (found) resolve(found[1]!)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    void ended.then(([code]) => reject(new Error(`portico ended with ${code}:\n${output}`)))
  })
  return {
    url,
    child,
    output: () => output,
    async kill(signal) {
      child.kill(signal)
      const [code] = await ended
      return code
    },
  }
}

function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
