import type { Database } from '../../platform/database/index.ts'
import type { BlobStore } from '../../documents/documents/index.ts'
import type { Embeddings, Reranking } from '../../gateway/gateway/index.ts'
import type { Metrics } from '../../platform/http/index.ts'
import { createTableQueries } from '../../documents/ingestion/index.ts'
import { runStep, type Telemetry } from '../../platform/kernel/index.ts'
import type { LiveCatalogue } from '../../gateway/models/index.ts'
import type { Organisations } from '../../tenants/organisations/index.ts'
import {
  createDocumentReader,
  createHashingEmbedder,
  createRetrieval,
  type Retrieval,
  type SearchIndex,
} from '../../documents/retrieval/index.ts'
import type { TokenCounting } from '../../gateway/tokens/index.ts'
import { openEmbedder, openFormerEmbedders } from './embedders.ts'
import type { PartContext } from './foundation.ts'
import { openReranker } from './rerankers.ts'

interface SearchDependencies extends PartContext {
  corpus: Database
  blobs: BlobStore
  index: SearchIndex
  organisations: Pick<Organisations, 'get'>
  catalogue: Pick<LiveCatalogue, 'built'>
  embeddings: Embeddings
  reranking: Reranking
  metrics: Metrics
  telemetry: Telemetry | null
  tokens: TokenCounting
}

/** The embedder, hybrid search over its vectors, and the reranker if one is configured. */
export async function openSearch({
  config,
  corpus,
  blobs,
  index,
  organisations,
  catalogue,
  embeddings,
  reranking,
  metrics,
  telemetry,
  tokens,
  clock,
  log,
  onStop,
}: SearchDependencies) {
  const dependencies = {
    dataFolder: config.settings.dataFolder,
    embeddings,
    tokens,
    organisations,
    modelDimensions: (model: string) =>
      catalogue.built().models.get(model.replace(/^eu\//, ''))?.dimensions ?? undefined,
    clock,
    log,
  }
  const embedder = await openEmbedder(config, dependencies)
  onStop(() => embedder.close())
  const former = await openFormerEmbedders(embedder, await index.embeddingVersions.load(), dependencies)
  for (const one of former) onStop(() => one.close())
  const opened = await openReranker({
    config,
    reranking,
    organisations,
    modelKind: (model) => catalogue.built().models.get(model.replace(/^eu\//, ''))?.kind,
    metrics,
    telemetry,
    clock,
    log,
  })
  if (opened) onStop(() => opened.reranker.close())
  const retrieval = timed(
    // The built-in embedder needs no model files, so it always serves its index while the index of another model is built.
    createRetrieval({
      index,
      embedder,
      formerEmbedders: [createHashingEmbedder(), ...former],
      ...(opened && { rerankStage: opened.rerankStage }),
      log,
    }),
    { observe: (seconds) => metrics.searchSeconds.observe(seconds), telemetry },
  )
  const tables = createTableQueries({ blobs, log })
  onStop(() => tables.close())
  return {
    embedder,
    reranker: opened?.reranker,
    rerankerHealth: opened?.health,
    retrieval,
    documentReader: createDocumentReader(corpus),
    tables,
  }
}

function timed(
  retrieval: Retrieval,
  { observe, telemetry }: { observe: (seconds: number) => void; telemetry: Telemetry | null },
): Retrieval {
  return {
    ...retrieval,
    async search(request) {
      const startMs = performance.now()
      try {
        const step = telemetry?.retrieval(request.spaceId)
        return await runStep(
          step,
          () => retrieval.search(request),
          (passages) => passages.length,
        )
      } finally {
        observe((performance.now() - startMs) / 1000)
      }
    },
  }
}
