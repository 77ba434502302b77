export {
  type ChunkBatch,
  composeEmbeddingText,
  type IndexedChunk,
  type IndexRun,
  IndexRunEndedError,
} from './corpus/chunks.ts'
export { type EmbeddingVersion, vectorTable } from './corpus/embedding-versions.store.ts'
export { indexedChunkColumns } from './corpus/index-writer.store.ts'
export {
  createDocumentReader,
  type DocumentReader,
  type Passage,
  type SpaceDocument,
  type StoredPassage,
} from './corpus/passages.store.ts'
export { createEmbedders, type Embedder, type Embedders, type EmbedderSource } from './embedders/embedder.ts'
export { createHashingEmbedder } from './embedders/hashing-embedder.ts'
export { createOnnxEmbedder } from './embedders/onnx-embedder.ts'
export {
  hasModel,
  type InstalledModel,
  installModel,
  type InstallOptions,
  ModelInstallError,
  type PinnedModel,
  pinnedModels,
} from './onnx/install-model.ts'
export { isOnnxRuntimeInstalled } from './onnx/onnx-runtime.ts'
export { createProviderEmbedder, type ProviderEmbedderOptions } from './embedders/provider-embedder.ts'
export type { MaintenanceReport, ReadScope, SearchEngine } from './engine.ts'
export { createLanceEngine } from './engines/lance/lance-engine.ts'
export { assertLance, isLanceInstalled } from './engines/lance/lance-package.ts'
export type { LanceStorage } from './engines/lance/lance-tables.ts'
export { createMemoryEngine } from './engines/memory/memory-engine.ts'
export { createPostgresEngine } from './engines/postgres/postgres-engine.ts'
export type { ExplainedCandidate, ExplainSearch, SearchExplanation } from './explanation.ts'
export { createOnnxReranker } from './rerankers/onnx-reranker.ts'
export { createProviderReranker } from './rerankers/provider-reranker.ts'
export {
  createRerankerHealth,
  createRerankStage,
  type RerankerHealth,
  type RerankStage,
} from './rerankers/rerank-stage.ts'
export type { Reranker } from './rerankers/reranker.ts'
export { reindexStep } from './reindex.ts'
export { saveIndexProblem } from './corpus/index-progress.store.ts'
export { createLocalModel, type LocalModelFiles } from './semantic-search/local-model.ts'
export { createLocalModelStore } from './semantic-search/local-model.store.ts'
export { createSemanticSearch } from './semantic-search/semantic-search.ts'
export {
  type ChosenModel,
  createSemanticSearchStore,
  semanticSearchTopic,
  type SemanticSearchStore,
} from './semantic-search/semantic-search.store.ts'
export { semanticSearchRoutes } from './semantic-search/semantic-search.routes.ts'
export { checkDueSpaces } from './vector-check.ts'
export type { ContextText } from './lexical/analyse-text.ts'
export { createRetrieval, type Retrieval } from './retrieval.ts'
export { samplePassages } from './corpus/vector-checks.store.ts'
export { createSearchIndex, type IndexWriter, type SearchIndex } from './search-index.ts'
