import type { Queryable } from '../../platform/database/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import type { DocumentFormat } from './document.ts'

/** The ingestion job for documents of any size. Its payload has the `documentId`. */
export const processDocumentJob = 'process-document'

/** The same for small documents, so that large ones never occupy all workers. */
export const processSmallDocumentJob = 'process-small-document'

/** The same for documents that take long to read while others wait. Its separate place lets them delay only each other. */
export const processSlowDocumentJob = 'process-slow-document'

/** One key per row for all kinds: a job keeps its key when it moves to another kind. */
export const processingKey = (id: string) => `${processDocumentJob}:${id}`

const kibibyte = 1024

/** Files up to this size are small: about one second of work and at most about 1,000 chunks each. */
const smallBytes: Record<DocumentFormat, number> = {
  txt: 256 * kibibyte,
  md: 256 * kibibyte,
  csv: 256 * kibibyte,
  tsv: 256 * kibibyte,
  // Mark-up and scripts are most of it.
  html: 1024 * kibibyte,
  // Compressed, and often with pictures.
  docx: 1024 * kibibyte,
  // A table of that size is long.
  xlsx: 256 * kibibyte,
  pptx: 2048 * kibibyte,
  // Its attachments may be of any type.
  eml: 256 * kibibyte,
  pdf: 2048 * kibibyte,
  // Recognition takes seconds.
  image: 0,
}

export interface ProcessedRow {
  id: string
  organisationId: string
  spaceId: string
  format: string
  sizeBytes: number | bigint
}

/** Call it within the transaction that sets the row to `processing`. */
export async function enqueueProcessing(
  jobs: JobQueue,
  transaction: Queryable,
  { id, organisationId, spaceId, format, sizeBytes }: ProcessedRow,
): Promise<void> {
  const isSmall = Number(sizeBytes) <= (smallBytes[format as DocumentFormat] ?? 0)
  await jobs.enqueue(transaction, {
    kind: isSmall ? processSmallDocumentJob : processDocumentJob,
    key: processingKey(id),
    payload: { documentId: id, organisationId, spaceId },
    fairnessKeys: { organisationId, spaceId },
  })
}
