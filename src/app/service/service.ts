import type { PasswordHashing } from '../../tenants/accounts/index.ts'
import type { Config } from '../config/config.ts'
import { type Clock, type Log, runsJobs, systemClock } from '../../platform/kernel/index.ts'
import { openAccess } from './access.ts'
import { openBackups } from './backups.ts'
import { createAnswers } from './answers.ts'
import { openConsole } from './console.ts'
import { openDocuments } from './documents.ts'
import { openFiles } from './files.ts'
import { openFoundation, type PartContext } from './foundation.ts'
import { openGoldenQuestions } from './golden-questions.ts'
import { openGateway } from './gateway.ts'
import { assertSharedFiles, describeInstance } from './instance-facts.ts'
import { openIngestion } from './ingestion.ts'
import { openInterface } from './interface.ts'
import { openModels } from './models.ts'
import { describeStart } from './describe-start.ts'
import { openSearch } from './search.ts'
import { openReencryption } from './reencryption.ts'
import { openSpaceArchives } from './space-archives.ts'
import { openSpaces } from './spaces.ts'
import { openStorage, type Storage } from './storage.ts'

export interface ServiceOptions {
  config: Config
  log: Log
  /** Tests pass their own. */
  clock?: Clock | undefined
  /** Tests pass a shorter one. */
  instanceExpiryMs?: number | undefined
  /** What the caller opens with the same options, since before it loaded this module. */
  storage?: Promise<Storage> | undefined
  /** Tests pass a cheap one. */
  passwordHashing?: PasswordHashing | undefined
}

export type Service = Awaited<ReturnType<typeof createService>>

/** Opens every part of Portico from the configuration. `stop` closes them in reverse order. */
export async function createService(options: ServiceOptions) {
  const { config, log, clock = systemClock, instanceExpiryMs, storage, passwordHashing } = options
  await using building = new AsyncDisposableStack()
  const onStop = (close: () => unknown) => building.defer(async () => void (await close()))
  let stopping = false
  const opening = await (storage ?? openStorage({ config, log, clock }))
  const given = { config, log: opening.log, clock, instanceExpiryMs, passwordHashing, onStop }
  const parts = await openParts(given, opening, () => stopping)
  const { control, blobs, index, embedder, reranker, ingestion, watch, server, golden, answers, spaces } = parts
  const opened = building.move()

  return {
    ...parts,

    /** Starts the background work and listens. */
    async start(): Promise<{ url: string; metricsUrl: string | undefined }> {
      await ingestion.start()
      if (runsJobs(config.settings.server.role)) golden.start({ answers, spaces })
      await server.listen()
      performance.mark('listening')
      return { url: server.url(), metricsUrl: server.metricsUrl() }
    },

    /** The lines that a start prints. */
    describe: () =>
      describeStart(config, control, server, [
        ['files', blobs.label],
        ['search', index.engine.description],
        ['embedder', embedder.label],
        ...(reranker ? [['reranker', reranker.label] as const] : []),
      ]),

    /**
     * Requests are served for `shutdownDelayMs` unless the stop is urgent, streams finish within the grace period, jobs return to the
     * queue, every part closes in reverse order. Idempotent.
     */
    async stop({ isUrgent = false } = {}): Promise<void> {
      if (stopping) return
      stopping = true
      if (!isUrgent) await server.drain()
      ingestion.beginStop()
      watch.close()
      await server.close()
      await ingestion.end()
      await server.closeMetrics()
      await opened.disposeAsync()
    },
  }
}

/**
 * Opens the parts in the order of their dependencies and passes each one what it needs, by name. The marks are for `npm run
 * bench:start`, and for `performance` in a debugger.
 */
async function openParts(context: PartContext, storage: Storage, isStopping: () => boolean) {
  const { config, clock, log } = context
  const foundation = await openFoundation(storage, context)
  const { corpus } = storage.databases
  const { control, changeFeed, metrics, telemetry, tokens, secretBox } = foundation
  performance.mark('change feed')
  const access = await openAccess({ ...foundation, ...context })
  const { organisations, limiter } = access
  performance.mark('organisations and accounts')
  const models = await openModels({ ...foundation, organisations, ...context })
  const { catalogue, router } = models
  performance.mark('catalogue')
  const facts = await describeInstance(config)
  const called = { ...foundation, organisations, catalogue, router, limiter, facts }
  const gateway = await openGateway({ ...called, ...context })
  const { ledger, completions } = gateway
  await assertSharedFiles(facts, ledger, log)
  performance.mark('ledger and gateway')
  const stored = await openFiles({ corpus, telemetry, ...context })
  const { index, jobs, blobs } = stored
  const golden = openGoldenQuestions({ control, corpus, organisations, jobs, metrics, ...context })
  const storedSpaces = { ...foundation, organisations, catalogue, ...stored, ledger, ...golden, ...context }
  const { spaceStore, spaces, insights, turnErasure, ...recorded } = await openSpaces(storedSpaces)
  const searched = { ...foundation, corpus, blobs, index, organisations, catalogue, ...gateway, ...context }
  const search = await openSearch(searched)
  const answers = createAnswers({ ledger, completions, telemetry, ...search, tokens, organisations, catalogue, clock })
  const files = openDocuments({ corpus, ...foundation, ...stored, spaces, turnErasure, ...context })
  const archived = { control, corpus, ...stored, ...search, spaces, spaceStore, ...golden, ...context }
  const spaceArchives = await openSpaceArchives(archived)
  const ingestion = openIngestion({ control, corpus, ...stored, metrics, ...search, ...context })
  performance.mark('documents, Spaces, search')
  const shown = { control, corpus, organisations, ledger, blobs, index, ...search, ingestion, events: storage.events }
  const pages = { ...openConsole({ ...shown, ...context }), ...openBackups({ ...shown, ...foundation, ...context }) }
  const server = openInterface({
    control,
    corpus,
    role: facts.role,
    ...access,
    reencryption: openReencryption({ control, secretBox, ...access, clock }),
    ...models,
    ledger,
    completions,
    ...files,
    ...stored,
    answers,
    spaces,
    insights,
    ...golden,
    ...recorded,
    spaceArchives,
    ...pages,
    metrics,
    telemetry,
    isStopping,
    ...context,
  })
  performance.mark('routes and pages')

  return {
    config,
    clock,
    log,
    control,
    corpus,
    changeFeed,
    ...access,
    spaceStore,
    ...stored,
    ...search,
    documents: files.documents,
    watch: files.watch,
    ingestion,
    golden,
    answers,
    spaces,
    server,
  }
}
