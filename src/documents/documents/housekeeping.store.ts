import { countRows, type Database, type OwnedDatabase } from '../../platform/database/index.ts'
import { sharedOwner } from '../../platform/kernel/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import { blobRemovalKey, deleteBlobJob } from './blob-removal.ts'
import { enqueueProcessing, processingKey, type ProcessedRow } from './processing-job.ts'

/** Most stuck documents of one query; the next one finds more. */
const maximumStuck = 10_000

/** SQL of the sweep and of the audit. */
export function createHousekeepingStore({ database, jobs }: { database: Database; jobs: JobQueue }) {
  const shared = database.for(sharedOwner)
  /** Documents in processing without a job. */
  async function findStuck(): Promise<ProcessedRow[]> {
    const rows = await shared.query<ProcessedRow>(
      `select id, organisation_id as "organisationId", space_id as "spaceId", format, size_bytes as "sizeBytes" from documents
       where status = 'processing' and stage <> 'importing' order by id limit ${maximumStuck}`,
    )
    const stuck = []
    for (const row of rows) {
      if (await jobs.exists(processingKey(row.id))) continue
      // The job may have finished between the two queries.
      const [still] = await shared.query(`select 1 from documents where id = $1 and status = 'processing'`, [row.id])
      if (still) stuck.push(row)
    }
    return stuck
  }

  return {
    findStuck,

    /** Enqueues a job for each stuck document; resolves to their number. */
    async requeueStuck(): Promise<number> {
      const stuck = await findStuck()
      for (const document of stuck) {
        await database
          .for(document.organisationId)
          .transaction((transaction) => enqueueProcessing(jobs, transaction, document))
      }
      return stuck.length
    },

    ...findBlobs(shared),

    /** Blobs of the organisation that a job is going to remove. */
    countBlobRemovals: (organisationId: string): Promise<number> =>
      countRows(database.for(organisationId), `job where kind = $1 and payload->>'blobKey' like $2 || '/%'`, [
        deleteBlobJob,
        organisationId,
      ]),

    isBlobRemovalPending: (blobKey: string): Promise<boolean> => jobs.exists(blobRemovalKey(blobKey)),

    /** A page of all documents by id, for the audit. */
    loadBlobKeys(afterId: string | null, limit: number): Promise<{ id: string; blobKey: string }[]> {
      return shared.query<{ id: string; blobKey: string }>(
        `select id, blob_key as "blobKey" from documents where ($1::uuid is null or id > $1) order by id limit $2`,
        [afterId, limit],
      )
    },

    /** Ready documents without chunks, or whose chunk count differs from the index. */
    findMiscounted(limit: number): Promise<{ id: string; counted: number; found: number }[]> {
      return shared.query<{ id: string; counted: number; found: number }>(
        `select id, counted, found from (
           select d.id, coalesce(d.chunk_count, 0) as counted,
             (select count(*)::int from chunks c where c.document_id = d.id) as found
           from documents d where d.status = 'ready') as counts
         where counted = 0 or counted <> found order by id limit $1`,
        [limit],
        { timeoutMs: auditTimeoutMs },
      )
    },

    /** Removes the keys of the uploads of a document, which have its name. */
    removeUploadKeys: (organisationId: string, id: string): Promise<number> =>
      database
        .for(organisationId)
        .execute('delete from upload_keys where organisation_id = $1 and document_id = $2', [organisationId, id]),

    pruneUploadKeys(): Promise<number> {
      return shared.execute(`delete from upload_keys where created_at < now() - interval '1 day'`)
    },
  }
}

/** Of the given blob keys. */
function findBlobs(database: OwnedDatabase) {
  const find = (keys: readonly string[], condition: string, parameters: readonly string[] = []): Promise<string[]> =>
    database
      .query<{ key: string }>(
        `select blob as key from unnest($1::text[]) as blob
         where not exists (select 1 from documents where blob_key = blob) ${condition}`,
        [[...keys], ...parameters],
      )
      .then((rows) => rows.map(({ key }) => key))
  return {
    /** Those without a document. */
    findOrphanBlobs: (keys: readonly string[]) => find(keys, ''),

    /** Those without a document that no job is going to remove. */
    findLostBlobs: (keys: readonly string[]) =>
      find(keys, 'and not exists (select 1 from job where key = $2 || blob and not cancelled)', [blobRemovalKey('')]),
  }
}

/** Longest query over all documents and their chunks. */
const auditTimeoutMs = 10 * 60_000
