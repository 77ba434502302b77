import type { ConsoleSystemBody } from '../contract/console-system.ts'
import { type Clock, describeError, type Log } from '../platform/kernel/index.ts'
import type { SystemStore } from './system.store.ts'

/** Pages of several operators, and of the same one, share a report of this age. */
const reportAgeMs = 2_000
/** Counting reads all documents, so pages show counts of this age while newer ones are counted. */
const storageAgeMs = 5 * 60_000
const queryTimeoutMs = 5_000
/** An instance beats every second. Ten seconds without one end its leases. */
const aliveMs = 10_000

type Process = ConsoleSystemBody['process']

export interface SystemReportDependencies {
  store: SystemStore
  /** The queue with ids only. */
  loadQueue: (timeoutMs: number) => Promise<QueueRows>
  loadEmbeddingVersions: () => Promise<readonly EmbeddingVersionRow[]>
  facts: {
    version: string
    engine: Process['engine']
    databaseVersion: string
    blobs: string
    search: string
  }
  /** That of new documents. */
  embedder: () => string
  /** null: none is configured. */
  rerankerState: () => RerankerRow | null
  extractorLoad: () => Process['extractors']
  samples: () => Process['samples']
  events: () => ConsoleSystemBody['events']
  instanceId: () => string
  nameOf: (organisationId: string) => string | undefined
  clock: Clock
  log: Log
}

type Reranker = NonNullable<ConsoleSystemBody['search']['reranker']>

type RerankerRow = Omit<Reranker, 'at'> & { atMs: number | null }

interface EmbeddingVersionRow {
  embedderId: string
  dimensions: number
  state: string
  createdAt: Date
}

interface QueueRows {
  kinds: readonly {
    kind: string
    ready: number
    delayed: number
    running: number
    retrying: number
    oldestWaitingAt: Date | null
  }[]
  organisations: readonly { organisationId: string; waiting: number }[]
  failing: readonly {
    kind: string
    organisationId: string
    attempt: number
    nextAttemptAt: Date
    reason: string | null
  }[]
  givenUp: readonly { kind: string; organisationId: string; attempts: number; reason: string; at: Date }[]
}

/** Everything that the page of the system shows. Bounded: lists are short, and counts are shared between requests. */
export function createSystemReport(dependencies: SystemReportDependencies) {
  const { clock } = dependencies
  const startedAt = new Date(clock.now()).toISOString()
  const storage = refreshed(storageAgeMs, clock, () => countStorage(dependencies))
  const load = shared(reportAgeMs, clock, async (): Promise<ConsoleSystemBody> => {
    const { facts, samples, extractorLoad, events } = dependencies
    const [instances, queue, failedDocuments, versions, counted] = await Promise.all([
      loadInstances(dependencies),
      loadQueue(dependencies),
      loadFailedDocuments(dependencies),
      dependencies.loadEmbeddingVersions(),
      storage(),
    ])
    return {
      at: new Date(clock.now()).toISOString(),
      process: {
        version: facts.version,
        node: process.versions.node,
        engine: facts.engine,
        databaseVersion: facts.databaseVersion,
        startedAt,
        samples: samples(),
        extractors: extractorLoad(),
      },
      instances,
      queue,
      storage: counted,
      failedDocuments,
      search: {
        engine: facts.search,
        embedder: dependencies.embedder(),
        reranker: renderReranker(dependencies.rerankerState()),
        embeddingVersions: versions.map(({ embedderId, dimensions, state, createdAt }) => ({
          embedder: embedderId,
          dimensions,
          state,
          createdAt: createdAt.toISOString(),
        })),
      },
      events: events(),
    }
  })
  return { load }
}

export type SystemReport = ReturnType<typeof createSystemReport>

/** Calls of `read` at most once within `ageMs`, also when several wait for it. A failure is not kept. */
function shared<Value>(ageMs: number, clock: Clock, read: () => Promise<Value>): () => Promise<Value> {
  let reading: { atMs: number; value: Promise<Value> } | undefined
  return () => {
    if (reading && clock.monotonicMs() - reading.atMs < ageMs) return reading.value
    const next = { atMs: clock.monotonicMs(), value: read() }
    reading = next
    next.value.catch(() => {
      if (reading === next) reading = undefined
    })
    return next.value
  }
}

/** Waits for the first value only; an older one is returned while the next is read. `read` does not reject. */
function refreshed<Value>(ageMs: number, clock: Clock, read: () => Promise<Value>): () => Promise<Value> {
  let last: Promise<Value> | undefined
  let readAtMs = Number.NEGATIVE_INFINITY
  return () => {
    if (clock.monotonicMs() - readAtMs < ageMs) return last!
    readAtMs = clock.monotonicMs()
    const next = read()
    if (last === undefined) last = next
    else void next.then(() => (last = next))
    return last
  }
}

function renderReranker(row: RerankerRow | null): Reranker | null {
  if (!row) return null
  const { atMs, ...reranker } = row
  return { ...reranker, at: atMs === null ? null : new Date(atMs).toISOString() }
}

async function loadInstances({ store, instanceId }: SystemReportDependencies): Promise<ConsoleSystemBody['instances']> {
  const rows = await store.loadInstances(queryTimeoutMs)
  return rows.map(({ id, role, name, startedAt, heartbeatAt, silentMs, leases }) => ({
    id,
    role: role ?? 'all',
    name,
    current: id === instanceId(),
    startedAt: startedAt.toISOString(),
    heartbeatAt: heartbeatAt.toISOString(),
    alive: silentMs < aliveMs,
    leases,
  }))
}

async function loadQueue({ loadQueue: load, nameOf }: SystemReportDependencies): Promise<ConsoleSystemBody['queue']> {
  const { kinds, organisations, failing, givenUp } = await load(queryTimeoutMs)
  return {
    kinds: kinds.map(({ oldestWaitingAt, ...kind }) => ({
      ...kind,
      oldestWaitingAt: oldestWaitingAt?.toISOString() ?? null,
    })),
    organisations: organisations.map((row) => named(row, nameOf)),
    failing: failing.map((row) => ({ ...named(row, nameOf), nextAttemptAt: row.nextAttemptAt.toISOString() })),
    givenUp: givenUp.map((row) => ({ ...named(row, nameOf), at: row.at.toISOString() })),
  }
}

async function loadFailedDocuments({ store, nameOf }: SystemReportDependencies) {
  const rows = await store.loadFailedDocuments(queryTimeoutMs)
  return rows.map((row) => ({ ...named(row, nameOf), at: row.at.toISOString() }))
}

/** Jobs that belong to no organisation have an empty id. */
function named<Row extends { organisationId: string }>(row: Row, nameOf: SystemReportDependencies['nameOf']) {
  const organisationId = row.organisationId === '' ? null : row.organisationId
  return { ...row, organisationId, organisationName: (organisationId && nameOf(organisationId)) ?? null }
}

/** null where the database is too slow for it: the rest of the page is needed most then. */
async function countStorage({
  store,
  facts,
  clock,
  log,
}: SystemReportDependencies): Promise<ConsoleSystemBody['storage']> {
  try {
    const counts = await store.countDocuments(queryTimeoutMs)
    const databases = [
      await store.loadSizes('control', queryTimeoutMs),
      await store.loadSizes('corpus', queryTimeoutMs),
    ]
    const sum = (status: string | undefined, field: 'documents' | 'bytes' | 'chunks') =>
      counts.reduce(
        (total, row) => (status === undefined || row.status === status ? total + Number(row[field]) : total),
        0,
      )
    return {
      countedAt: new Date(clock.now()).toISOString(),
      databases,
      blobs: { label: facts.blobs, files: sum(undefined, 'documents'), bytes: sum(undefined, 'bytes') },
      documents: {
        ready: sum('ready', 'documents'),
        processing: sum('processing', 'documents'),
        failed: sum('failed', 'documents'),
        chunks: sum(undefined, 'chunks'),
      },
      failures: counts
        .flatMap(({ code, documents }) => (code === null ? [] : [{ code, documents }]))
        .toSorted((one, other) => other.documents - one.documents),
    }
  } catch (error) {
    log.warn({ error: describeError(error) }, 'storage could not be counted')
    return null
  }
}
