export type { BlobStore } from './blobs/blob-store.ts'
export { type BlobSweeper, createBlobSweeper } from './blob-sweeper.ts'
export { createFolderBlobStore } from './blobs/folder-blob-store.ts'
export { createS3BlobStore } from './blobs/s3-blob-store.ts'
export type { Document, DocumentFailureCode, DocumentFormat, DocumentProgress, DocumentStatus } from './document.ts'
export { documentRoutes } from './documents.routes.ts'
export {
  createDocumentStore,
  type DocumentStore,
  type ProcessingRow,
  deleteBlobJob,
  processDocumentJob,
} from './documents.store.ts'
export { createDocuments, type Documents } from './documents.ts'
