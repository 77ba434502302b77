export { chunkBlocks, type ChunkingOptions } from './chunking/chunk-blocks.ts'
export { chunkingFor } from './chunking/chunk-sizes.ts'
export { detectFormat, type FormatDetection } from './detect-format.ts'
export { type Chunk, type DocumentFormat, type ExtractedBlock, type ExtractionSummary } from './extraction.ts'
export {
  createExtractorPool,
  type Extraction,
  type ExtractionRequest,
  type ExtractorPool,
} from './isolation/extractor-pool.ts'
export { createIndexKeeper } from './index-keeper.ts'
export { createPipeline } from './pipeline.ts'
