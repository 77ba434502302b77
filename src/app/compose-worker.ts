import { type AnswerDependencies, modelsOfAnswers } from '../chat/chat/index.ts'
import { createConversations, createSubjectErasure } from '../chat/conversations/index.ts'
import { createErasures, createErasureStore } from '../chat/erasures/index.ts'
import {
  createGoldenQuestionStore,
  createGoldenResultStore,
  createGoldenRuns,
  createGoldenRunStore,
  createGoldenSettingsStore,
  createGoldenTransferStore,
  createRunSchedule,
  createRunWorker,
  goldenRunJob,
  runLimits,
} from '../chat/golden-questions/index.ts'
import { createInsights, createInsightStore } from '../chat/insights/index.ts'
import { createToolCalls, createToolServerStore, toolNetwork } from '../chat/space-tools/index.ts'
import {
  createSpaceRemovals,
  createSpaceRemovalStore,
  createSpaces,
  createSpaceStore,
  type Space,
} from '../chat/spaces/index.ts'
import {
  createDocumentNames,
  createDocumentStore,
  createDocumentSweeper,
  createWebSourceStore,
  createWebSourceWorker,
  readWebSourceJob,
  removeLostBlobs,
  withHeldRemovals,
} from '../documents/documents/index.ts'
import {
  chunkingFor,
  createExtractorPool,
  createImportedCheck,
  createIndexKeeper,
  createPipeline,
  createTableQueries,
  detectFormat,
} from '../documents/ingestion/index.ts'
import {
  createDocumentReader,
  createHashingEmbedder,
  createRetrieval,
  createSearchIndex,
  createSemanticSearchStore,
  type LocalModelFiles,
  pinnedModels,
} from '../documents/retrieval/index.ts'
import { type Database, recordChange } from '../platform/database/index.ts'
import { createJobQueue } from '../platform/jobs/index.ts'
import { publicNetworks, runsJobs, sharedOwner, userAgent } from '../platform/kernel/index.ts'
import { gatewayParts } from './compose-gateway.ts'
import type { PartsOf } from './part-list.ts'
import {
  documentWorkers,
  extractorPoolSize,
  openRecognitionService,
  workOnChanges,
  workOnDocuments,
} from './parts/document-work.ts'
import { followChosenModel, openEmbedder, openFormerEmbedders } from './parts/embedders.ts'
import { createErasureSteps, openErasureKeys } from './parts/erasure-steps.ts'
import { installPinnedModel, modelsFolder } from './parts/local-models.ts'
import { assertSharedFiles } from './parts/instance-facts.ts'
import { openFetch } from './parts/settings-of-parts.ts'
import { openReranker } from './parts/rerankers.ts'
import { createEngine, openBlobStore } from './parts/document-stores.ts'

/**
 * The parts of every process that has to do with documents, after those of compose-gateway.ts. They are all that a process with the role `worker`
 * has. The list ends in compose.ts.
 */

/** Most documents of a deleted Space that one transaction removes. */
const removalBatch = 100

/** Bounds of reading a web address. At most this many pages of 20 MiB are in memory at the same time. */
const importsPerInstance = 4
const importConnections = 16
const importConnectMs = 10_000
const importMs = 60_000

/** Bounds of tools of Spaces; a call has the time limit of its answer. */
const toolConnections = 64
const toolConnectMs = 5_000
const toolHeadersMs = 30_000

export const workerParts = gatewayParts
  .needs<{ corpus: Database }>()

  // Files, their rows, the index that searches them, and the queue of work on them.
  .add('index', ({ corpus, config, log }) =>
    createSearchIndex({ database: corpus, engine: createEngine(config, corpus, log) }),
  )
  .add('jobs', ({ corpus, telemetry, clock, log }) => createJobQueue({ database: corpus, telemetry, clock, log }))
  .add('blobs', async ({ facts, ledger, config, log }) => {
    await assertSharedFiles(facts, ledger, log)
    return withHeldRemovals(await openBlobStore(config), log)
  })
  .add('documentStore', ({ corpus, jobs, index }) =>
    createDocumentStore({ database: corpus, jobs, removeFromIndex: index.deleteDocument }),
  )
  .add('documentSweeper', ({ corpus, documentStore, blobs, facts, clock, log }) => {
    const soleOwner = corpus.engine === 'embedded'
    return runsJobs(facts.role)
      ? createDocumentSweeper({ store: documentStore, blobs, soleOwner, clock, log })
      : undefined
  })

  // Golden questions and their runs, which are a gate before a Space is published.
  .add('documentNames', ({ corpus }) => createDocumentNames(corpus))
  .add('goldenStores', ({ control }) => ({
    questions: (owner: string) => createGoldenQuestionStore(control.for(owner)),
    transfers: (owner: string) => createGoldenTransferStore(control.for(owner)),
    settings: (owner: string) => createGoldenSettingsStore(control.for(owner)),
    runs: (owner: string) => createGoldenRunStore(control.for(owner)),
    results: (owner: string) => createGoldenResultStore(control.for(owner)),
  }))
  .add('goldenRuns', ({ corpus, jobs, goldenStores, documentNames, clock, log }) => {
    const { questions, transfers, settings, runs, results } = goldenStores
    return createGoldenRuns({ questions, transfers, settings, runs, results, documentNames, corpus, jobs, clock, log })
  })

  // Spaces, what is kept of their conversations, and what is counted of their answers.
  .add('webSourceStore', ({ corpus, jobs }) => createWebSourceStore({ database: corpus, jobs }))
  .add('spaceRemovals', ({ control, documentStore, webSourceStore, blobs, facts, clock, log }) =>
    createSpaceRemovals({
      store: createSpaceRemovalStore(control.for(sharedOwner)),
      async onSpaceRemoved(removed, signal) {
        const { organisationId, spaceId } = removed
        await webSourceStore.removeOfSpace(organisationId, spaceId)
        while ((await documentStore.removeOfSpace(organisationId, spaceId, removalBatch)) > 0) signal.throwIfAborted()
        await removeLostBlobs({ store: documentStore, blobs, clock }, removed, signal)
      },
      isActive: runsJobs(facts.role),
      clock,
      log,
    }),
  )
  .add('spaceStore', ({ control }) => createSpaceStore(control, recordChange))
  .add(
    'spaces',
    ({ spaceStore, spaceRemovals, goldenRuns, organisations, catalogue, changeFeed, config, clock, log }) =>
      createSpaces({
        store: spaceStore,
        removals: spaceRemovals,
        defaultModel: config.settings.chat.defaultModel,
        isModelAvailable(organisationId, model) {
          const organisation = organisations.get(organisationId)
          // The store rejects an unknown organisation with a more specific error.
          return !organisation || catalogue.resolve(organisation, model, clock.now())?.model.kind === 'chat'
        },
        publicationProblem: (space) => goldenRuns.loadGate(space).then(({ problem }) => problem),
        changeFeed,
        clock,
        log,
      }),
  )
  .add('erasureKeys', ({ control, secretKey, secretBox, config, log }) =>
    openErasureKeys({ control, secretKey, secondSecretKey: config.secrets.secondSecretKey, secretBox, log }),
  )
  .add('insightStore', ({ control }) => createInsightStore(control))
  .add('insights', ({ insightStore, clock, log }) => createInsights({ store: insightStore, clock, log }))
  .add('conversationRecords', ({ control, erasureKeys, clock, log }) =>
    createConversations({ database: control, subjectDigest: erasureKeys.digest, clock, log }),
  )

  // Search: the embedder, hybrid search over its vectors, and the reranker if one is configured.
  .add(
    'findModel',
    ({ catalogue }) =>
      (id: string) =>
        catalogue.built().models.get(id.replace(/^eu\//, '')),
  )
  .add('localModelFiles', ({ localModelSource, config }): LocalModelFiles => {
    const { model = pinnedModels[0]!, hubUrl } = localModelSource ?? {}
    const install: LocalModelFiles['install'] = (options) => installPinnedModel(config, { ...options, model, hubUrl })
    return { model, cacheFolder: modelsFolder(config), install }
  })
  .add('embedderDependencies', (parts) => {
    const { config, embeddings, tokens, organisations, findModel, localModelFiles, clock, log } = parts
    return {
      config,
      localModelFiles,
      embeddings,
      tokens,
      organisations,
      modelDimensions: (id: string) => findModel(id)?.dimensions ?? undefined,
      clock,
      log,
    }
  })
  .add('embedder', ({ embedderDependencies }) => openEmbedder(embedderDependencies))
  .add('formerEmbedders', async ({ embedder, index, embedderDependencies, onStop }) => {
    const former = await openFormerEmbedders(embedder, await index.embeddingVersions.load(), embedderDependencies)
    for (const one of former) onStop(() => one.close())
    // The built-in embedder needs no model files, so it always serves its index while the index of another model is built.
    return [createHashingEmbedder(), ...former]
  })
  .add('semanticSearchStore', ({ control }) => createSemanticSearchStore(control.for(sharedOwner), recordChange))
  .add('embedders', (parts) => {
    const { embedder: configured, formerEmbedders: former, semanticSearchStore: store, changeFeed } = parts
    const { embedderDependencies: dependencies, onStop } = parts
    return followChosenModel({ configured, former, store, changes: changeFeed, onStop, dependencies })
  })
  .add('reranker', ({ reranking, organisations, findModel, metrics, telemetry, config, clock, log }) => {
    const modelKind = (id: string) => findModel(id)?.kind
    return openReranker({ config, reranking, organisations, modelKind, metrics, telemetry, clock, log })
  })
  .add('retrieval', ({ index, embedder, embedders, reranker, metrics, telemetry, log }) =>
    createRetrieval({
      index,
      embedder,
      otherEmbedders: embedders.all,
      ...(reranker && { rerankStage: reranker.stage }),
      searchSeconds: metrics.searchSeconds,
      telemetry,
      log,
    }),
  )
  .add('tables', ({ blobs, log }) => createTableQueries({ blobs, log }))

  // Tools of Spaces: other services, which only these connections reach.
  .add(
    'toolServerStores',
    ({ control }) =>
      (owner: string) =>
        createToolServerStore(control.for(owner)),
  )
  .add('toolCalls', ({ toolServerStores, secretBox, metrics, config, log, onStop }) => {
    const network = toolNetwork(config.settings.network.toolNetworks)
    const limits = {
      connectTimeoutMs: toolConnectMs,
      headersTimeoutMs: toolHeadersMs,
      idleTimeoutMs: toolHeadersMs,
      maximumConnections: toolConnections,
    }
    const https = openFetch(config, { limits, rule: network.rule })
    const http = openFetch(config, { limits, rule: network.plainRule })
    onStop(https.close)
    onStop(http.close)
    return createToolCalls({
      store: toolServerStores,
      fetches: { https: https.fetch, http: http.fetch },
      network,
      secretBox,
      observe: (call) => metrics.spaceTools.inc(call),
      log,
    })
  })

  // What answers of Spaces need, for chats and for runs of golden questions.
  .add('answers', (parts): AnswerDependencies => {
    const { corpus, completions, retrieval, tables, ledger, tokens, telemetry, organisations, catalogue, clock } = parts
    const { toolCalls } = parts
    return {
      completions,
      retrieval,
      documents: createDocumentReader(corpus),
      tables,
      ledger,
      tokens,
      loadOwnTools: toolCalls.load,
      telemetry,
      ...modelsOfAnswers(catalogue, clock),
      findOrganisation: organisations.get,
      now: clock.now,
    }
  })

  // Work in the background: erasures, documents, runs of golden questions.
  .add(
    'erasures',
    ({ control, documentStore, blobs, index, conversationRecords, erasureKeys, secretBox, clock, log }) => {
      const turnErasure = createSubjectErasure({ database: control, service: conversationRecords })
      const steps = createErasureSteps({ control, documentStore, blobs, index, turnErasure })
      return createErasures({ store: createErasureStore(control), keys: erasureKeys, secretBox, steps, clock, log })
    },
  )
  .add('extractors', ({ embedder, blobs, config, clock, log, onStop }) =>
    createExtractorPool({
      size: extractorPoolSize(config),
      // Of the configuration: a model that operators choose takes the same chunks.
      chunking: chunkingFor(embedder),
      limits: { maximumChunks: config.settings.ingestion.maximumChunks },
      readableFolders: blobs.localFolders,
      recognitionService: openRecognitionService(config, onStop),
      clock,
      log,
    }),
  )
  .add('pipeline', ({ corpus, documentStore, blobs, extractors, index, embedders, spaces, metrics, clock, log }) =>
    createPipeline({
      recognition: (spaceId) => spaces.get(spaceId)?.settings,
      database: corpus,
      documents: documentStore,
      blobs,
      extractors,
      index,
      embedder: embedders.current,
      clock,
      log,
      observer: {
        processed(status, code, durationMs) {
          metrics.documents.inc({ status, code })
          metrics.ingestionSeconds.observe(durationMs / 1000)
        },
      },
    }),
  )
  // Documents from web addresses.
  .add('webAddresses', ({ config, onStop }) => {
    const { importNetworks } = config.settings.network
    const rule = { network: publicNetworks(importNetworks), anyPort: importNetworks.length > 0 }
    const limits = { connectTimeoutMs: importConnectMs, maximumConnections: importConnections }
    const { fetch, close } = openFetch(config, { limits, rule: rule.network })
    onStop(close)
    return { fetch, rule, userAgent, timeoutMs: importMs }
  })
  .add('webSourceWork', (parts) => {
    const { webSourceStore, webAddresses, documentStore, blobs, spaces, jobs, config, facts, clock, log } = parts
    const worker = createWebSourceWorker({
      store: webSourceStore,
      documents: documentStore,
      blobs,
      detectFormat,
      reader: webAddresses,
      hasSpace: (organisationId, spaceId) => spaces.get(spaceId)?.organisationId === organisationId,
      clock,
      log,
    })
    parts.onStart(() => {
      if (!runsJobs(facts.role) || documentWorkers(config) === 0) return
      const options = { concurrency: importsPerInstance, maximumAttempts: 12, backoffMs: 1_000 }
      jobs.work(readWebSourceJob, { ...options, onExhausted: worker.giveUp }, worker.run)
      worker.start()
    })
    parts.onStopping(() => worker.close())
    return worker
  })
  .add('importedCheck', ({ corpus, documentStore, blobs, extractors, log }) =>
    createImportedCheck({ database: corpus, documents: documentStore, blobs, extractors, log }),
  )
  .add('indexKeeper', ({ corpus, jobs, index, embedders, clock, log, onStopping }) => {
    const keeper = createIndexKeeper({ database: corpus.for(sharedOwner), jobs, index, embedders, clock, log })
    onStopping(() => keeper.close())
    return keeper
  })
  .add('documentWork', (parts) => {
    const { control, jobs, pipeline, importedCheck, indexKeeper, index, embedders, documentStore, blobs } = parts
    const { facts, config, log, onStart, onServed } = parts
    onStart(async () => {
      const workers = documentWorkers(config)
      if (workers > 0) workOnDocuments(jobs, { pipeline, check: importedCheck, workers })
      if (workers > 0) await indexKeeper.start()
      else await index.embeddingVersions.prepare(embedders.current())
      await index.engine.start(documentStore.listenChanges)
      if (runsJobs(facts.role)) workOnChanges({ control, jobs, index, blobs, documentStore, log })
    })
    // Jobs return to the queue.
    onServed(() => jobs.close())
  })
  .add('timeZoneOf', ({ organisations }) => {
    return ({ organisationId }: Pick<Space, 'organisationId'>) => organisations.get(organisationId)?.timeZone ?? 'UTC'
  })
  .add('goldenSchedule', ({ goldenStores, goldenRuns, spaces, timeZoneOf, clock, log }) => {
    return createRunSchedule({
      settings: goldenStores.settings(sharedOwner),
      runs: goldenRuns,
      getSpace: spaces.get,
      timeZoneOf,
      clock,
      log,
    })
  })
  .add('goldenWork', (parts) => {
    const { goldenStores, goldenSchedule, jobs, answers, spaces, organisations, metrics, facts, clock, log } = parts
    const worker = createRunWorker({
      runs: goldenStores.runs,
      results: goldenStores.results,
      answers,
      getSpace: spaces.get,
      getOrganisation: organisations.get,
      observe: (run) => metrics.goldenRuns.inc(run),
      clock,
      log,
    })
    parts.onStart(() => {
      if (!runsJobs(facts.role)) return
      const options = { concurrency: runLimits.runsPerInstance, maximumAttempts: 20, backoffMs: 1_000 }
      jobs.work(goldenRunJob, { ...options, onExhausted: worker.giveUp }, worker.run)
      goldenSchedule.start()
    })
  })
  .mark('documents, Spaces, search')

export type WorkerParts = PartsOf<typeof workerParts>
