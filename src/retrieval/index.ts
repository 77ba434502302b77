export type { IndexAudit } from './corpus/audit.store.ts'
export {
  type ChunkBatch,
  composeEmbeddingText,
  type IndexedChunk,
  type IndexRun,
  IndexRunEndedError,
} from './corpus/chunks.ts'
export type { EmbeddingVersion } from './corpus/embedding-versions.store.ts'
export type { Embedder, EmbedderSource } from './embedders/embedder.ts'
export { createHashingEmbedder, type HashingEmbedderOptions } from './embedders/hashing-embedder.ts'
export { createOnnxEmbedder, type OnnxEmbedderOptions } from './embedders/onnx-embedder.ts'
export { isOnnxRuntimeInstalled } from './embedders/onnx-runtime.ts'
export { createProviderEmbedder, type ProviderEmbedderOptions } from './embedders/provider-embedder.ts'
export type { SearchEngine } from './engine.ts'
export { createMemoryEngine } from './engines/memory/memory-engine.ts'
export { createPostgresEngine } from './engines/postgres/postgres-engine.ts'
export { type ReindexProgress, reindexStep } from './reindex.ts'
export {
  createRetrieval,
  type Passage,
  type Retrieval,
  type RetrievalDependencies,
  type SearchRequest,
} from './retrieval.ts'
export { createSearchIndex, type IndexWriter, type SearchIndex } from './search-index.ts'
