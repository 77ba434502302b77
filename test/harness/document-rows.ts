import type { NewDocument } from '../../src/documents/documents/index.ts'
import { createDocumentId } from '../../src/platform/kernel/index.ts'
import type { TestDatabase } from './statements.ts'

/** Rows of one statement. */
const batch = 10_000

/**
 * Adds documents to a Space without their files, for lists of a size that uploads would take hours for: one second apart, of five formats,
 * each 100th failed with one of three codes, each 50th in processing. Names are `Report <hash> number <n>.<format>`.
 */
export async function insertDocumentRows(
  corpus: TestDatabase,
  { organisationId, spaceId, count }: { organisationId: string; spaceId: string; count: number },
): Promise<void> {
  const newest = new Date()
  for (let first = 0; first < count; first += batch) {
    await corpus.execute(
      `insert into documents (id, organisation_id, space_id, name, status, error_code, error_message, format, mime_type, size_bytes,
         content_sha256, blob_key, stage, chunk_count, created_at)
       select id, $1::uuid, $2::uuid, 'Report ' || md5(n::text) || ' number ' || n || '.' || format, status,
         case when status = 'failed' then (array['corrupt_file', 'no_text', 'embedding_failed'])[1 + n / 100 % 3] end,
         case when status = 'failed' then 'A message.' end, format, 'text/plain', n::bigint * 7919 % 1000000,
         sha256(n::text::bytea), $2::uuid || '/' || id, case when status = 'processing' then 'queued' else 'done' end,
         case when status = 'ready' then 10 end, $5::timestamptz - n * interval '1 second'
       from (select n, gen_random_uuid() as id, (array['pdf', 'docx', 'md', 'txt', 'csv'])[1 + n % 5] as format,
           case when n % 100 = 0 then 'failed' when n % 50 = 1 then 'processing' else 'ready' end as status
         from generate_series($3::int, $4::int) as n) as documents`,
      [organisationId, spaceId, first, Math.min(first + batch, count) - 1, newest],
      { timeoutMs: 600_000 },
    )
  }
  await corpus.execute('analyze documents')
}

/** A text for `insert` of the store of documents, whose file is stored as its id. */
export function newDocument(
  given: Pick<NewDocument, 'organisationId' | 'spaceId'> & Partial<NewDocument>,
): NewDocument {
  const id = given.id ?? createDocumentId()
  return {
    id,
    name: 'a.txt',
    metadata: null,
    format: 'txt',
    mimeType: 'text/plain',
    apiVersion: 1,
    sizeBytes: 4,
    contentSha256: new Uint8Array(32),
    blobKey: id,
    uploadKey: null,
    fingerprint: new Uint8Array(32),
    ...given,
  }
}
