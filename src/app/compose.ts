import { hostname } from 'node:os'
import { callIdsOf } from '../chat/chat/index.ts'
import { createConversationAccess, createOwnChats, createRunningAnswers } from '../chat/conversations/index.ts'
import { createGoldenProposals, createGoldenQuestions, createGoldenSettings } from '../chat/golden-questions/index.ts'
import {
  createExportedSpaceStore,
  createSpaceImportStore,
  type SpaceArchiveRoutesDependencies,
} from '../chat/space-archives/index.ts'
import { createToolServers } from '../chat/space-tools/index.ts'
import {
  createProofOfWork,
  createProofStore,
  createSites,
  createSiteSpending,
  createSiteStore,
  createSpendingStore,
  createVisitAccess,
  createVisitLimits,
  createVisitSessions,
} from '../chat/visitors/index.ts'
import {
  createHealthReport,
  createOrganisationsStore,
  createProcessSamples,
  createSystemReport,
  createSystemStore,
} from '../console/index.ts'
import {
  createChunkReader,
  createDocuments,
  createDocumentWatch,
  createUnusedBlobs,
  createViewerStore,
  createWebSources,
} from '../documents/documents/index.ts'
import { createImportedChunks, detectFormat } from '../documents/ingestion/index.ts'
import {
  createLocalModel,
  createLocalModelStore,
  createSemanticSearch,
  samplePassages,
} from '../documents/retrieval/index.ts'
import {
  createCatalogueViews,
  createOperatorCatalogue,
  listEmbeddingModels,
  priceInForce,
} from '../gateway/models/index.ts'
import { loadFailures, loadHistory } from '../gateway/routing/index.ts'
import { recordChange } from '../platform/database/index.ts'
import { loadQueueState } from '../platform/jobs/index.ts'
import { publicNetworks, sharedOwner, version } from '../platform/kernel/index.ts'
import { createAlerts } from '../tenants/alerts/index.ts'
import { createAdminLog } from '../tenants/operators/index.ts'
import { createBackupRecord, createLiveBackup, secretKeyCheck } from './backup/index.ts'
import type { PartsOf } from './part-list.ts'
import { createAlertSources } from './parts/alert-sources.ts'
import { documentWorkers } from './parts/document-work.ts'
import { namesEmbedder } from './parts/embedders.ts'
import { journalOptions, openMail } from './parts/settings-of-parts.ts'
import { openReencryption } from './parts/reencryption.ts'
import { workerParts } from './compose-worker.ts'

/**
 * Every part of the service, in the order in which a start makes them: one list in three files. compose-gateway.ts has the parts of every
 * process, compose-worker.ts adds those of documents and Spaces, and this file with those that serve documents, people and operators
 * (roles `api` and `all`). Each role is a beginning of the list, and loads no modules of what follows.
 */

export const servingParts = workerParts
  // Documents over HTTP.
  .add('unusedBlobs', ({ documentStore, blobs, clock, log }) =>
    createUnusedBlobs({ store: documentStore, blobs, clock, log }),
  )
  .add('documents', ({ documentStore, blobs, unusedBlobs, spaces, config }) =>
    createDocuments({
      store: documentStore,
      blobs,
      hasSpace: (organisation, spaceId) => spaces.get(spaceId)?.organisationId === organisation.id,
      detectFormat,
      maximumUploadBytes: config.settings.documents.maximumUploadBytes,
      unusedBlobs,
    }),
  )
  .add('webSources', ({ webSourceStore, webAddresses, spaces, clock }) =>
    createWebSources({
      store: webSourceStore,
      rule: webAddresses.rule,
      hasSpace: (organisation, spaceId) => spaces.get(spaceId)?.organisationId === organisation.id,
      clock,
    }),
  )
  .add('chunks', ({ corpus }) => createChunkReader(corpus))
  .add('viewer', ({ corpus, documentStore, chunks }) =>
    createViewerStore({ database: corpus, store: documentStore, chunks }),
  )
  .add('watch', ({ documentStore, clock, onStopping }) => {
    const watch = createDocumentWatch({ documents: documentStore, clock })
    onStopping(() => watch.close())
    return watch
  })

  // What people do with Spaces: conversations, golden questions, archives.
  .add('conversations', ({ control, conversationRecords, spaces, ledger, clock }) =>
    createConversationAccess({
      database: control,
      service: conversationRecords,
      organisationOf: (id) => spaces.get(id)?.organisationId,
      flushLedger: () => ledger.flush(),
      callIdsOf,
      clock,
      hasOtherInstances: control.engine === 'postgres',
    }),
  )
  .add('runningAnswers', ({ control, changeFeed, onStopping }) => {
    const running = createRunningAnswers({ database: control, recordChange, changeFeed })
    onStopping(() => running.close())
    return running
  })
  .add('ownChats', ({ control, conversationRecords, runningAnswers }) =>
    createOwnChats({ database: control, service: conversationRecords, running: runningAnswers }),
  )
  .add('goldenQuestions', ({ goldenStores, documentNames, insightStore, clock }) => {
    const { questions, transfers, runs } = goldenStores
    return createGoldenQuestions({ store: questions, transfers, runs, documentNames, insights: insightStore, clock })
  })
  .add('goldenSettings', ({ goldenStores, timeZoneOf, clock }) =>
    createGoldenSettings({ store: goldenStores.settings, timeZoneOf, clock }),
  )
  .add('goldenProposals', ({ answers, corpus, catalogue, clock }) =>
    createGoldenProposals({
      ...answers,
      samplePassages: (scope, limit, signal) => samplePassages(corpus, scope, limit, signal),
      pricesOf(organisation, model) {
        const nowMs = clock.now()
        const deployments = catalogue.resolve(organisation, model, nowMs)?.deployments ?? []
        const schedules = deployments.flatMap((deployment) => priceInForce(deployment, nowMs) ?? [])
        return schedules.toSorted((left, right) => Number(right.base.output - left.base.output))[0]
      },
    }),
  )
  .add('toolServers', ({ toolServerStores, toolCalls, secretBox, clock }) =>
    createToolServers({ store: toolServerStores, calls: toolCalls, secretBox, clock }),
  )
  .add('spaceImports', async ({ control, spaceStore, spaces, clock }) => {
    const store = createSpaceImportStore(control, spaceStore)
    if (control.engine === 'embedded') {
      await store.abandonAll(clock.now())
      spaces.wakeRemovals()
    }
    return store
  })
  .add('spaceArchives', (parts): SpaceArchiveRoutesDependencies => {
    const { corpus, spaceImports, goldenStores, documentStore, blobs, jobs, index, embedders, spaces } = parts
    const { toolServerStores, config, clock, log } = parts
    const { maximumUploadBytes, maximumImportBytes } = config.settings.documents
    return {
      exports: {
        store: (owner) => createExportedSpaceStore(corpus.for(owner)),
        blobs,
        questions: goldenStores.transfers,
        toolServers: toolServerStores,
        log,
      },
      imports: {
        store: spaceImports,
        spaces,
        documents: documentStore,
        blobs,
        chunks: createImportedChunks({ database: corpus, documents: documentStore, jobs, index }),
        detectFormat: (file) => detectFormat(file, 2),
        processImported: documentStore.processImported,
        embedder: embedders.current,
        maximumUploadBytes,
        maximumImportBytes,
        clock,
        log,
      },
      recordExport: spaceImports.recordExport,
      getSpace: spaces.get,
      clock,
    }
  })

  // The websites of Spaces and their visitors.
  .add('sites', ({ control, spaces, changeFeed, clock }) =>
    createSites({
      store: createSiteStore(control, recordChange),
      getSpace: spaces.get,
      changeFeed,
      clock,
    }),
  )
  .add('siteSpending', ({ control, clock, log }) =>
    createSiteSpending({
      store: (owner) => createSpendingStore(control.for(owner)),
      sharedStore: createSpendingStore(control.for(sharedOwner)),
      clock,
      log,
    }),
  )
  .add('visits', ({ control, sites, organisations, accounts, secretBox, secretKey, config, clock }) => {
    const { secondSecretKey } = config.secrets
    const sessions = createVisitSessions({ secretBox, sites, clock })
    const findOrganisation = organisations.get
    const findPerson = (headers: Headers) => accounts.authenticate(headers)
    return {
      sessions,
      limits: createVisitLimits({ clock }),
      proofs: createProofOfWork({
        store: createProofStore(control.for(sharedOwner)),
        secretKeys: [secretKey, ...(secondSecretKey === undefined ? [] : [secondSecretKey])],
        clock,
      }),
      access: createVisitAccess({ sessions, findOrganisation, findPerson }),
      findOrganisation,
      findPerson,
    }
  })

  // What operators do and see.
  .add('operatorCatalogue', ({ catalogueStore, catalogue, router, changeFeed, priceSnapshot, clock }) =>
    createOperatorCatalogue({
      store: catalogueStore,
      catalogue,
      deploymentHealth: router,
      changes: changeFeed,
      snapshot: priceSnapshot,
      clock,
    }),
  )
  .add('healthReport', ({ control, catalogue, clock }) => {
    const database = control.for(sharedOwner)
    return createHealthReport({
      loadHistory: (from, maximumEvents) => loadHistory(database, from, maximumEvents),
      loadFailures: () => loadFailures(database),
      catalogue,
      clock,
    })
  })
  .add('catalogueViews', ({ control, catalogue, router, catalogueStore, organisations, priceSnapshot, clock }) =>
    createCatalogueViews({
      catalogue,
      deploymentHealth: router,
      store: catalogueStore,
      loadFailing: async () =>
        new Set((await loadFailures(control.for(sharedOwner))).map(({ deploymentId }) => deploymentId)),
      organisations,
      snapshot: priceSnapshot,
      instance: { name: `${hostname()}:${process.pid}`, startedAt: clock.now() },
      clock,
    }),
  )
  .add('reencryption', ({ control, secretBox, accounts, clock }) =>
    openReencryption({ control, secretBox, accounts, clock }),
  )
  .add('adminLog', ({ control, clock }) => createAdminLog({ database: control, clock }))
  .add('sendMail', ({ config }) => openMail(config))
  .add('alerts', (parts) => {
    const { control, corpus, catalogue, ledger, secretBox, webhookFetch, sendMail, config, clock, log } = parts
    const journal = journalOptions(control.engine, config)
    const { publicUrl } = config.settings.server
    const alerts = createAlerts({
      database: control,
      clock,
      log,
      secretBox,
      sources: createAlertSources({
        control,
        corpus,
        catalogue,
        journalFolder: journal?.mode === 'local' ? journal.folder : undefined,
        clock,
      }),
      auditLedger: async () => (await ledger.audit()).findings.length,
      fetch: webhookFetch.fetch,
      webhookRule: publicNetworks(config.settings.network.webhookNetworks),
      sendMail,
      pageUrl: publicUrl === undefined ? undefined : new URL('/console/operator/alerts', publicUrl).href,
    })
    parts.onStart(() => alerts.start())
    parts.onStopping(() => alerts.close())
    return alerts
  })
  .add('samples', ({ clock }) => createProcessSamples(clock))
  .add('systemReport', (parts) => {
    const { control, corpus, organisations, ledger, blobs, index, embedders, reranker, extractors, samples } = parts
    const { events, config, clock, log } = parts
    return createSystemReport({
      store: createSystemStore({ control: control.for(sharedOwner), corpus: corpus.for(sharedOwner) }),
      loadQueue: (timeoutMs) => loadQueueState(corpus.for(sharedOwner), timeoutMs),
      loadEmbeddingVersions: () => index.embeddingVersions.load(),
      facts: {
        version,
        engine: control.engine,
        databaseVersion: control.features.serverVersion,
        blobs: blobs.label,
        search: index.engine.description,
      },
      embedder: () => embedders.current().label,
      rerankerState: () => (reranker ? { label: reranker.label, ...reranker.health.current() } : null),
      extractorLoad: () => (documentWorkers(config) > 0 ? extractors.load() : null),
      samples: () => samples.list(),
      events: () => events.list(),
      instanceId: () => ledger.instanceId(),
      nameOf: (id) => organisations.get(id)?.name,
      clock,
      log,
    })
  })
  .add('localModel', ({ control, localModelFiles, clock, log, onStopping }) => {
    const store = createLocalModelStore(control.for(sharedOwner))
    const localModel = createLocalModel({ ...localModelFiles, store, host: hostname(), clock, log })
    onStopping(() => localModel.close())
    return localModel
  })
  .add('semanticSearch', (parts) => {
    const { semanticSearchStore: store, embedders, index, catalogue, organisations, changeFeed, config, clock } = parts
    return createSemanticSearch({
      store,
      embedders,
      localModel: parts.localModel,
      isConfigured: namesEmbedder(config),
      index,
      models: () => listEmbeddingModels(catalogue.built(), clock.now()),
      organisationName: (id) => organisations.get(id)?.name,
      changes: changeFeed,
      clock,
    })
  })
  .add('organisationLists', ({ control }) => createOrganisationsStore(control.for(sharedOwner)))
  .add('backup', ({ control, corpus, ledger, blobs, secretKey, config, log }) =>
    createLiveBackup({
      control,
      corpus,
      openJournalCopies: () => ledger.openJournalCopies(),
      blobs,
      externalBlobs: config.settings.documents.blobs.kind === 'folder' ? null : blobs.label,
      secretKeyCheck: secretKeyCheck(secretKey),
      log,
    }),
  )
  .add('backupRecord', ({ control, clock }) => createBackupRecord(control.for(sharedOwner), () => clock.now()))

export type Parts = PartsOf<typeof servingParts>
