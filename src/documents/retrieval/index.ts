export { composeEmbeddingText, type IndexedChunk, type IndexRun, IndexRunEndedError } from './corpus/chunks.ts'
export { type EmbeddingVersion, vectorTable } from './corpus/embedding-versions.store.ts'
export { indexedChunkColumns } from './corpus/index-writer.store.ts'
export { createDocumentReader, type DocumentReader, type SpaceDocument } from './corpus/document-reader.store.ts'
export type { Embedder, EmbedderSource } from './embedders/embedder.ts'
export { createHashingEmbedder } from './embedders/hashing-embedder.ts'
export { createOnnxEmbedder } from './embedders/onnx-embedder.ts'
export { type InstalledModel, installModel, ModelInstallError } from './onnx/install-model.ts'
export { type PinnedModel, pinnedModels } from './onnx/pinned-models.ts'
export { isOnnxRuntimeInstalled } from './onnx/onnx-runtime.ts'
export { createProviderEmbedder, type ProviderEmbedderOptions } from './embedders/provider-embedder.ts'
export type { MaintenanceReport, ReadScope, SearchEngine } from './engine.ts'
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
export type { ContextText } from './lexical/weigh-context.ts'
export { createRetrieval, type Retrieval } from './retrieval.ts'
export type { Passage } from './corpus/passages.store.ts'
export { createSearchIndex, type IndexWriter, type SearchIndex } from './search-index.ts'
