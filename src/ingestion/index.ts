export { chunkBlocks, type ChunkingOptions } from './chunking/chunk-blocks.ts'
export { chunkingFor } from './chunking/chunk-sizes.ts'
export { createChunkReader } from './chunk-reader.ts'
export { createDocumentWatch } from './document-watch.ts'
export { detectFormat, type FormatDetection } from './detect-format.ts'
export { type Chunk, type DocumentFormat, type ExtractedBlock, type ExtractionSummary } from './extraction.ts'
export {
  createExtractorPool,
  type Extraction,
  type ExtractionRequest,
  type ExtractorPool,
} from './isolation/extractor-pool.ts'
export { createIndexKeeper, followDocuments } from './index-keeper.ts'
export { ingestionRoutes } from './ingestion.routes.ts'
export { createPipeline } from './pipeline.ts'
