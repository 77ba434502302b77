import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { operatorVariables, runCommand } from '../../harness/cli.ts'
import {
  type DatabasePlace,
  freshDataFolder,
  makeTestFolder,
  testServerUrl,
  serviceVariables,
} from '../../harness/database.ts'
import { type FakeS3, startFakeS3 } from '../../harness/fake-s3.ts'
import { type OwnPostgres, startOwnPostgres } from '../../harness/ledger-crash/own-postgres.ts'
import {
  type PlannedProvider,
  providerSettings,
  startPlannedProvider,
} from '../../harness/ledger-crash/planned-provider.ts'
import type { Caller } from '../../harness/ledger-crash/recorded-call.ts'
import { hasPgBouncer, type Pooler, startPgBouncer } from '../../harness/pgbouncer.ts'
import {
  type ApiClient,
  createApiClient,
  organisationMakers,
  removeFolder,
  type TestOrganisation,
  type TestSpace,
} from '../../harness/portico.ts'
import { type ChaosLoad, startChaosLoad } from './chaos-load.ts'
import { type ChaosInstance, hangsAfterMs, startInstance } from './instance.ts'
import { createJumpingClock, type JumpingClock } from './jumping-clock.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'

/**
 * One instance with the embedded databases on a small disk, or two on a PostgreSQL of this test behind PgBouncer with files in S3, the
 * second with two processes. Both under load from the start to the end.
 */
export interface ChaosStage {
  instances: ChaosInstance[]
  load: ChaosLoad
  provider: PlannedProvider
  place: DatabasePlace
  callers: Caller[]
  team: TestOrganisation
  space: TestSpace
  operator: ApiClient
  /** Of the first instance. */
  clock: JumpingClock
  /** Embedded only; undefined too where this process may not mount. */
  disk: SmallDisk | undefined
  /** On a server only. */
  postgres: OwnPostgres | undefined
  /** In front of it, where it is installed. */
  pooler: Pooler | undefined
  s3: FakeS3 | undefined
  /** While set, a process of the service may end by itself; it is started again. */
  allowEnds(isAllowed: boolean): void
  /** Resolves to the time in milliseconds until every instance answered a call, a chat and an upload. */
  answersAgain(): Promise<number>
  /** What `portico audit` finds. */
  audit(): Promise<string[]>
  close(): Promise<void>
}

const operatorToken = 'operator-token-of-the-chaos-tests'
const bucket = 'chaos'
const pollMs = 200
/** Short, so that a provider that sends nothing fails a call while the test runs. */
const silentProviderMs = 1_500

export interface StageOptions {
  random: () => number
  /** Default: an own one of the engine of this run. */
  openBackend?: () => Promise<Backend>
  /** Of each instance. */
  completionClients?: number
}

export async function openStage(options: StageOptions): Promise<ChaosStage> {
  const closers: (() => Promise<void> | void)[] = []
  const close = async () => {
    const failures: unknown[] = []
    for (const closer of closers.splice(0).toReversed()) {
      try {
        await closer()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'the stage could not be closed')
  }
  try {
    return await open(options, closers, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function open(
  { random, openBackend = testServerUrl() === undefined ? openEmbedded : openServer, completionClients }: StageOptions,
  closers: (() => Promise<void> | void)[],
  close: () => Promise<void>,
): Promise<ChaosStage> {
  const provider = await startPlannedProvider()
  closers.push(() => provider.upstream.close())
  const backend = await openBackend()
  closers.push(backend.close)
  const { place } = backend
  const extras = makeTestFolder()
  closers.push(() => removeFolder(extras))
  const clock = createJumpingClock(path.join(extras, 'clock-offset'))
  const configFile = path.join(extras, 'portico.yaml')
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify(settingsFor(provider, backend.s3)))
  let endsAllowed = false
  const start = (name: string, processes: number, more: Record<string, string>) => {
    const environment = {
      ...serviceVariables(place, operatorToken),
      PORTICO_CONFIG: configFile,
      PORTICO_LOG_LEVEL: 'warn',
      // Machines of tests are busy at times.
      PORTICO_MAXIMUM_EVENT_LOOP_DELAY_MS: '60000',
      PORTICO_S3_ACCESS_KEY_ID: 'test',
      PORTICO_S3_SECRET_ACCESS_KEY: 'test',
      // A service that is killed leaves its copies of files there.
      TMPDIR: extras,
      ...backend.variables,
      ...more,
    }
    return startInstance({ name, environment, processes, mayEnd: () => endsAllowed })
  }
  const instances: ChaosInstance[] = []
  closers.push(async () => {
    for (const instance of instances) if (!instance.isStopped()) await instance.stop()
  })
  // One after the other: the first one makes the tables.
  instances.push(await start('the first instance', 1, { NODE_OPTIONS: clock.nodeOptions }))
  if (place.databaseUrl !== undefined) instances.push(await start('the second instance', 2, {}))

  const { url } = instances[0]!
  const operator = createApiClient(url, operatorToken)
  const makers = organisationMakers(url, operator)
  const rich = { monthlyBudgetUsd: '100000', limits: { concurrentCalls: 4_000 } }
  const callers = [await makers.createOrganisation(rich), await makers.createOrganisation(rich)]
  const team = await makers.createOrganisation(rich)
  const space = await makers.createSpace(team)
  const urls = instances.map((instance) => instance.url)
  const load = startChaosLoad({ provider, random, urls, callers, team, space, completionClients })
  closers.push(() => load.stop())

  return {
    instances,
    load,
    provider,
    place,
    callers,
    team,
    space,
    operator,
    clock,
    disk: backend.disk,
    postgres: backend.postgres,
    pooler: backend.pooler,
    s3: backend.s3,
    allowEnds: (isAllowed) => void (endsAllowed = isAllowed),
    async answersAgain() {
      const startMs = performance.now()
      for (const instance of instances) {
        for (;;) {
          const failed = instance.isUp() ? await load.tryAll(instance.url) : ['it is down']
          if (failed.length === 0) break
          if (performance.now() - startMs > hangsAfterMs)
            throw new Error(
              `${instance.name} does not answer again: ${failed.join(', ')}. It has printed: ${instance.output()}`,
            )
          await wait(pollMs)
        }
      }
      return performance.now() - startMs
    },
    audit: () => auditOf(url),
    close,
  }
}

/** Where the databases and the files of a stage are. */
export interface Backend {
  place: DatabasePlace
  /** Further ones of each instance. */
  variables?: Record<string, string>
  disk?: SmallDisk | undefined
  postgres?: OwnPostgres
  pooler?: Pooler | undefined
  s3?: FakeS3
  close(): Promise<void>
}

async function openEmbedded(): Promise<Backend> {
  const prepared = await freshDataFolder()
  const disk = mountSmallDisk(prepared)
  const place = { dataFolder: disk?.folder ?? prepared, databaseUrl: undefined, remove: async () => {} }
  return {
    place,
    disk,
    async close() {
      disk?.remove()
      await removeFolder(prepared)
    },
  }
}

async function openServer(): Promise<Backend> {
  const postgres = await startOwnPostgres()
  const pooler: Pooler | undefined = hasPgBouncer ? await startPgBouncer(postgres.url, 'transaction') : undefined
  const dataFolder = makeTestFolder()
  const s3 = await startFakeS3(bucket, { pageSize: 1_000 })
  const place = {
    dataFolder,
    databaseUrl: pooler?.through(postgres.url) ?? postgres.url,
    databaseDirectUrl: postgres.url,
    remove: async () => {},
  }
  return {
    place,
    postgres,
    pooler,
    s3,
    async close() {
      await s3.close()
      await pooler?.stop()
      await postgres.remove()
      await removeFolder(dataFolder)
    },
  }
}

function settingsFor(provider: PlannedProvider, s3: FakeS3 | undefined) {
  const settings = providerSettings(provider)
  const limits = { maximumConnections: 4_000, headersTimeoutMs: silentProviderMs }
  return {
    ...settings,
    metrics: { enabled: true },
    ingestion: { workers: 1 },
    providers: settings.providers.map((one) => ({ ...one, limits })),
    ...(s3 && { documents: { blobs: { kind: 's3', bucket, endpoint: s3.url, forcePathStyle: true } } }),
  }
}

/** The lines of `portico audit` where it ends with another code than 0. */
async function auditOf(url: string): Promise<string[]> {
  const { code, out, error } = await runCommand(['audit'], { environment: operatorVariables({ url, operatorToken }) })
  return code === 0 ? [] : `${out}${error}`.trim().split('\n')
}
