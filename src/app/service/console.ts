import type { LedgerService } from '../../gateway/billing/index.ts'
import {
  createOrganisationsStore,
  createProcessSamples,
  createSystemReport,
  createSystemStore,
  type RecentEvents,
} from '../../console/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { BlobStore } from '../../documents/documents/index.ts'
import { loadQueueState } from '../../platform/jobs/index.ts'
import { version } from '../../platform/kernel/index.ts'
import type { Organisations } from '../../tenants/organisations/index.ts'
import type { Embedder, Reranker, RerankerHealth, SearchIndex } from '../../documents/retrieval/index.ts'
import type { PartContext } from './foundation.ts'
import type { openIngestion } from './ingestion.ts'

interface ConsoleDependencies extends PartContext {
  control: Database
  corpus: Database
  organisations: Organisations
  ledger: LedgerService
  blobs: BlobStore
  index: SearchIndex
  embedder: Embedder
  reranker: Reranker | undefined
  rerankerHealth: RerankerHealth | undefined
  ingestion: Pick<ReturnType<typeof openIngestion>, 'extractorLoad'>
  events: RecentEvents
}

/** What only pages of the console show. */
export function openConsole(dependencies: ConsoleDependencies) {
  const { control, corpus, organisations, ledger, blobs, index, embedder, ingestion, events } = dependencies
  const { reranker, rerankerHealth } = dependencies
  const { clock, log, onStop } = dependencies
  const samples = createProcessSamples(clock)
  onStop(() => samples.close())
  const systemReport = createSystemReport({
    store: createSystemStore({ control, corpus }),
    loadQueue: (timeoutMs) => loadQueueState(corpus, timeoutMs),
    loadEmbeddingVersions: () => index.embeddingVersions.load(),
    facts: {
      version,
      engine: control.engine,
      databaseVersion: control.features.serverVersion,
      blobs: blobs.label,
      search: index.engine.description,
      embedder: embedder.label,
    },
    rerankerState: () => (reranker && rerankerHealth ? { label: reranker.label, ...rerankerHealth.current() } : null),
    extractorLoad: () => ingestion.extractorLoad(),
    samples: () => samples.list(),
    events: () => events.list(),
    instanceId: () => ledger.instanceId(),
    nameOf: (id) => organisations.get(id)?.name,
    clock,
    log,
  })
  return { systemReport, organisationLists: createOrganisationsStore(control) }
}
