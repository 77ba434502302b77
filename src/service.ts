import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { createLedger, usageRoutes } from './billing/index.ts'
import type { Config } from './config.ts'
import { createChangeFeed, type Database, openDatabases, recordChange } from './database/index.ts'
import {
  createDocumentAudit,
  createDocumentStore,
  createDocumentSweeper,
  createDocuments,
  deleteBlobJob,
  documentRoutes,
  processDocumentJob,
} from './documents/index.ts'
import { createCompletions, createEmbeddings, gatewayRoutes } from './gateway/index.ts'
import { createMetrics, type MetricsServer, operationsRoutes, startMetricsServer } from './http/index.ts'
import { createServer } from './http/server.ts'
import {
  createChunkReader,
  createDocumentWatch,
  createExtractorPool,
  createIndexKeeper,
  followDocuments,
  createPipeline,
  detectFormat,
  ingestionRoutes,
} from './ingestion/index.ts'
import { createJobQueue } from './jobs/index.ts'
import { AppError, type Clock, createSecretBox, type Log, parsePicoUsd, systemClock } from './kernel/index.ts'
import {
  createCatalogue,
  createCatalogueStore,
  createOperatorCatalogue,
  createRouter,
  loadPriceSnapshot,
  modelRoutes,
} from './models/index.ts'
import {
  auditRoutes,
  createAdminLog,
  createOperatorTokenStore,
  createOperatorTokens,
  createOrganisationStore,
  createOrganisations,
  findingsOfCounts,
  operatorRoutes,
  organisationRoutes,
} from './organisations/index.ts'
import { createProvider } from './providers/index.ts'
import { createHashingEmbedder, createIndexStore, createRetrieval, type Retrieval } from './retrieval/index.ts'
import { observeLedger } from './service-metrics.ts'
import {
  openBlobStore,
  openEmbedder,
  openSecretKey,
  readCertificates,
  toCatalogueConfiguration,
} from './service-resources.ts'
import {
  chatRoutes,
  createSpaceRemovalStore,
  createSpaceRemovals,
  createSpaceStore,
  createSpaces,
  spaceRoutes,
} from './spaces/index.ts'

export interface ServiceOptions {
  config: Config
  log: Log
  /** Tests give their own. */
  clock?: Clock | undefined
}

export type Service = Awaited<ReturnType<typeof createService>>

const demoInstructions = 'You answer questions of visitors, briefly and in a friendly tone.'
const packageFile = new URL('../package.json', import.meta.url)
/** Longest wait for a database before /readyz says that it does not answer. */
const readyTimeoutMs = 2_000
/** After the grace of a stop: how long what was ended may take to settle and to tell its client. */
const lastWordsMs = 2_000
/** Documents of a deleted Space that one transaction removes. */
const removalBatch = 100

/** Builds every part of Portico from the configuration and gives it its dependencies. `stop` disposes in reverse. */
export async function createService({ config, log, clock = systemClock }: ServiceOptions) {
  const { settings, secrets } = config
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  await using building = new AsyncDisposableStack()
  const dispose = (close: () => unknown) => building.defer(async () => void (await close()))

  const metrics = createMetrics()
  const secretBox = createSecretBox(await openSecretKey(config))
  const databases = await openDatabases({
    dataFolder: settings.dataFolder,
    databaseUrl: secrets.databaseUrl,
    corpusDatabaseUrl: secrets.corpusDatabaseUrl,
    clock,
    log,
  })
  dispose(() => databases.close())
  const { control, corpus } = databases
  const changeFeed = createChangeFeed({ database: control, clock, log })
  await changeFeed.start()
  dispose(() => changeFeed.close())

  // Who asks, and what they may
  const organisations = await createOrganisations({
    store: createOrganisationStore(control, recordChange),
    changeFeed,
    clock,
    log,
    secretBox,
  })
  dispose(() => organisations.close())
  const operatorTokens = await createOperatorTokens({
    store: createOperatorTokenStore(control, recordChange),
    changeFeed,
    clock,
    configuredToken: secrets.operatorToken,
  })
  dispose(() => operatorTokens.close())
  const adminLog = createAdminLog({ database: control })

  // Models and money
  const snapshot = loadPriceSnapshot()
  const catalogueStore = createCatalogueStore({ database: control, secretBox, recordChange, clock, log })
  const certificates = readCertificates(config)
  const catalogue = createCatalogue({
    configuration: toCatalogueConfiguration(config),
    snapshot,
    store: catalogueStore,
    changes: changeFeed,
    createProvider: (provider) =>
      createProvider(provider, { log, clock, proxies: config.proxies, certificateAuthority: certificates }),
    clock,
    log,
  })
  dispose(() => catalogue.close())
  await catalogue.start()
  const router = createRouter({
    clock,
    random: Math.random,
    log,
    metrics: { attempt: (deployment, outcome) => metrics.providerAttempts.inc({ deployment, outcome }) },
  })
  const operatorCatalogue = createOperatorCatalogue({
    store: catalogueStore,
    catalogue,
    router,
    changes: changeFeed,
    snapshotDate: snapshot.date,
    clock,
  })
  const ledger = await createLedger({
    database: control,
    clock,
    log,
    observer: observeLedger(metrics),
    webhooks: {
      fetch,
      async target(id) {
        const url = organisations.get(id)?.webhookUrl
        const secret = url ? await organisations.loadWebhookSecret(id) : null
        return url && secret ? { url, secret } : undefined
      },
    },
  })
  dispose(() => ledger.close())
  const doorDependencies = { catalogue, router, ledger, clock, log }
  const completions = createCompletions(doorDependencies)
  const embeddings = createEmbeddings(doorDependencies)

  // Documents and what is found in them
  const embedder = await openEmbedder(config, {
    embeddings,
    organisations,
    modelDimensions: (model) => catalogue.built().models.get(model.replace(/^eu\//, ''))?.dimensions ?? undefined,
    clock,
    log,
  })
  dispose(() => embedder.close())
  const index = createIndexStore({ database: corpus, ...searchMemory(settings.search, corpus.engine), log })
  dispose(() => index.close())
  const jobs = createJobQueue({ database: corpus, clock, log })
  const blobs = await openBlobStore(config)
  dispose(() => blobs.close())
  const documentStore = createDocumentStore({ database: corpus, jobs, removeFromIndex: index.deleteDocument })
  const retrieval = timed(
    // The built-in embedder can always answer for an index that it made, while another model's is being built.
    createRetrieval({ index, embedder, formerEmbedders: [createHashingEmbedder()], log }),
    (seconds) => metrics.searchSeconds.observe(seconds),
  )
  const extractors = createExtractorPool({
    size: settings.ingestion.workers,
    readableFolders: blobs.localFolders,
    log,
  })
  dispose(() => extractors.close())
  const pipeline = createPipeline({
    database: corpus,
    documents: documentStore,
    blobs,
    extractors,
    index,
    embedder,
    clock,
    log,
    observer: {
      processed(status, code, durationMs) {
        metrics.documents.inc({ status, code })
        metrics.ingestionSeconds.observe(durationMs / 1000)
      },
    },
  })
  const indexKeeper = createIndexKeeper({ database: corpus, jobs, index, embedder, clock, log })
  const sweeper = createDocumentSweeper({
    store: documentStore,
    blobs,
    soleOwner: corpus.engine === 'embedded',
    clock,
    log,
  })
  dispose(() => sweeper.close())

  // Spaces
  const removals = createSpaceRemovals({
    store: createSpaceRemovalStore(control),
    async onSpaceRemoved({ organisationId, spaceId }, signal) {
      while ((await documentStore.removeOfSpace(organisationId, spaceId, removalBatch)) > 0) signal.throwIfAborted()
    },
    clock,
    log,
  })
  dispose(() => removals.close())
  const spaces = await createSpaces({
    store: createSpaceStore(control, recordChange),
    removals,
    defaultModel: settings.chat.defaultModel,
    changeFeed,
    clock,
    log,
  })
  dispose(() => spaces.close())
  const documents = createDocuments({
    store: documentStore,
    blobs,
    hasSpace: (organisation, spaceId) => spaces.get(spaceId)?.organisationId === organisation.id,
    detectFormat,
    maximumUploadBytes: settings.documents.maximumUploadBytes,
    log,
  })

  const documentWatch = createDocumentWatch({ documents: documentStore, clock })

  let stopping = false
  const shutdown = new AbortController()
  const app = createServer({
    authenticators: { organisations, operatorTokens },
    metrics,
    log,
    maximumJsonBytes: settings.server.maximumJsonBytes,
    isStopping: () => stopping,
    shutdown: shutdown.signal,
    publicUrl: settings.server.publicUrl,
    version,
    // The HTTP surface, in order.
    routes: [
      documentRoutes({ documents, clock }),
      gatewayRoutes({ completions, catalogue, clock, log }),
      chatRoutes({
        completions,
        retrieval,
        ledger,
        fallbackModel: (organisation) => catalogue.baseTierModels(organisation, clock.now())[0]?.id,
        getPublishedSpace: (endpointId) => spaces.getEndpoint(endpointId),
        now: () => clock.now(),
        log,
      }),
      organisationRoutes({ organisations, canonicalModelId: (id) => catalogue.built().models.get(id)?.id, clock }),
      spaceRoutes({ spaces }),
      ingestionRoutes({
        documents: documentStore,
        watch: documentWatch,
        chunks: createChunkReader(corpus),
        findSpace: (id) => spaces.get(id),
        log,
      }),
      modelRoutes({ catalogue: operatorCatalogue }),
      usageRoutes({ ledger, organisations, clock }),
      operationsRoutes({ isReady: async () => !stopping && (await areAnswering(Object.values({ control, corpus }))) }),
      operatorRoutes({ adminLog, operatorTokens }),
      auditRoutes({
        checks: [
          { area: 'ledger', run: async () => (await ledger.audit()).findings },
          { area: 'index', run: async () => findingsOfCounts(await index.audit()) },
          createDocumentAudit({ store: documentStore, blobs, clock }),
        ],
        clock,
      }),
    ],
  })
  const held = building.move()
  let metricsServer: MetricsServer | undefined
  let stopFollowing = async () => {}

  return {
    config,
    operatorTokens,
    organisations,
    spaces,
    ledger,
    documentStore,
    index,
    blobs,

    /** Listens and starts the background work. */
    async start(): Promise<{ url: string; metricsUrl: string | undefined }> {
      if (settings.metrics.enabled) {
        metricsServer = await startMetricsServer(metrics, {
          port: settings.metrics.port,
          host: settings.metrics.host,
          fallback: !config.explicit.has('metrics.port'),
        })
      }
      if (settings.ingestion.workers > 0) {
        const onExhausted = pipeline.giveUp
        const concurrency = settings.ingestion.workers
        jobs.work(
          processDocumentJob,
          { concurrency, maximumAttempts: 12, backoffMs: 1_000, onExhausted },
          pipeline.process,
        )
        await indexKeeper.start()
      } else await index.generations.prepare(embedder)
      stopFollowing = await followDocuments({ index, documents: documentStore, log })
      jobs.work(
        deleteBlobJob,
        { concurrency: 2, maximumAttempts: 50, backoffMs: 1_000, onExhausted: async () => {} },
        (job) => blobs.delete(String(job.payload.blobKey)),
      )
      await app.listen({ port: settings.server.port, host: settings.server.host })
      return {
        url: urlOf(),
        metricsUrl: metricsServer && `http://${settings.metrics.host}:${metricsServer.port}/metrics`,
      }
    },

    /** A demo organisation, its key and a published Space, once in the life of the database; undefined when there is any organisation. */
    async createDemo({ monthlyBudgetUsd }: { monthlyBudgetUsd: string }) {
      if ((await organisations.loadPage({ limit: 1, offset: 0 })).total > 0) return undefined
      const actor = { name: 'service', requestId: null }
      const organisation = await organisations.create(
        {
          name: 'Demo organisation',
          plan: 'enterprise',
          gatewayEnabled: true,
          gatewayOptIn: true,
          monthlyBudgetPicoUsd: parsePicoUsd(monthlyBudgetUsd),
        },
        actor,
      )
      const { key: apiKey } = await organisations.createKey(organisation.id, actor)
      const space = await spaces.create(
        { organisationId: organisation.id, name: 'Demo Space', instructions: demoInstructions },
        actor,
      )
      const { endpointId } = await spaces.publish(space.id, actor)
      return { apiKey, spaceId: space.id, endpointId: endpointId! }
    },

    /** What a person reads at the start. */
    describe(): string {
      const store =
        control.engine === 'embedded'
          ? `embedded database in ${settings.dataFolder}`
          : `PostgreSQL ${control.features.serverVersion}`
      return [
        `Portico ${version} listening on ${urlOf()} (API page: ${urlOf()}/docs)`,
        `  data: ${store}; files in ${blobs.label}; search: ${index.engine}`,
        `  embedder: ${embedder.label}`,
        ...(metricsServer ? [`  metrics: http://${settings.metrics.host}:${metricsServer.port}/metrics`] : []),
      ].join('\n')
    },

    /** Streams finish within the grace, jobs return to the queue, everything is closed in reverse. Idempotent. */
    async stop(): Promise<void> {
      if (stopping) return
      stopping = true
      indexKeeper.close()
      await stopFollowing()
      documentWatch.close()
      const closed = app.close()
      const isClosedWithin = (ms: number) => Promise.race([closed.then(() => true), wait(ms, false, { ref: false })])
      if (!(await isClosedWithin(settings.server.shutdownGraceMs))) {
        shutdown.abort(new AppError('shutting_down', 'The service is stopping.', { retryAfterSeconds: 2 }))
        if (!(await isClosedWithin(lastWordsMs))) app.server.closeAllConnections()
      }
      await closed
      await jobs.close()
      await metricsServer?.close()
      await held.disposeAsync()
    },
  }

  function urlOf(): string {
    const { address, port, family } = app.server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  }
}

/** A server searches its Spaces itself; the one connection of the embedded engine is too busy for it. */
function searchMemory({ memoryMegabytes }: Config['settings']['search'], engine: Database['engine']) {
  return engine === 'embedded' && memoryMegabytes > 0 ? { memory: { maximumBytes: memoryMegabytes * 2 ** 20 } } : {}
}

async function areAnswering(databases: Database[]): Promise<boolean> {
  const answers = databases.map((database) => database.query('select 1', [], { timeoutMs: readyTimeoutMs }))
  return (await Promise.allSettled(answers)).every((answer) => answer.status === 'fulfilled')
}

function timed(retrieval: Retrieval, observe: (seconds: number) => void): Retrieval {
  return {
    async search(request) {
      const startMs = performance.now()
      try {
        return await retrieval.search(request)
      } finally {
        observe((performance.now() - startMs) / 1000)
      }
    },
  }
}
