import type { Database } from '../database/index.ts'
import type { JobQueue } from '../jobs/index.ts'
import { blobRemovalKey } from './blob-removal.ts'
import { enqueueProcessing, processingKey, type ProcessedRow } from './processing-job.ts'

/** Rows that one look at stuck documents takes at most; more are found by the next. */
const maximumStuck = 10_000

/** SQL of what is checked and put right now and then. */
export function createHousekeepingStore({ database, jobs }: { database: Database; jobs: JobQueue }) {
  /** Documents that are processing although no job will ever work on them: must be none. */
  async function findStuck(): Promise<ProcessedRow[]> {
    const rows = await database.query<ProcessedRow>(
      `select id, organisation_id as "organisationId", space_id as "spaceId", format, size_bytes as "sizeBytes" from documents
       where status = 'processing' order by id limit ${maximumStuck}`,
    )
    const stuck = []
    for (const row of rows) {
      if (await jobs.exists(processingKey(row.id))) continue
      // The job may have ended well between the two looks.
      const [still] = await database.query(`select 1 from documents where id = $1 and status = 'processing'`, [row.id])
      if (still) stuck.push(row)
    }
    return stuck
  }

  return {
    findStuck,

    /** Gives each stuck document a job again; returns how many there were. */
    async requeueStuck(): Promise<number> {
      const stuck = await findStuck()
      for (const document of stuck) {
        await database.transaction((transaction) => enqueueProcessing(jobs, transaction, document))
      }
      return stuck.length
    },

    /** Of these blob keys, those that no document names. */
    async findOrphanBlobs(keys: readonly string[]): Promise<string[]> {
      const rows = await database.query<{ key: string }>(
        'select key from unnest($1::text[]) as key where not exists (select 1 from documents where blob_key = key)',
        [[...keys]],
      )
      return rows.map((row) => row.key)
    },

    isBlobRemovalPending: (blobKey: string): Promise<boolean> => jobs.exists(blobRemovalKey(blobKey)),

    /** A page of all documents by id, for the audit. */
    loadBlobKeys(afterId: string | null, limit: number): Promise<{ id: string; blobKey: string }[]> {
      return database.query<{ id: string; blobKey: string }>(
        `select id, blob_key as "blobKey" from documents where ($1::uuid is null or id > $1) order by id limit $2`,
        [afterId, limit],
      )
    },

    /** Ready documents without a chunk, or whose count is not what the index holds. */
    findMiscounted(limit: number): Promise<{ id: string; counted: number; found: number }[]> {
      return database.query<{ id: string; counted: number; found: number }>(
        `select id, counted, found from (
           select d.id, coalesce(d.chunk_count, 0) as counted,
             (select count(*)::int from chunks c where c.document_id = d.id) as found
           from documents d where d.status = 'ready') as counts
         where counted = 0 or counted <> found order by id limit $1`,
        [limit],
        { timeoutMs: auditTimeoutMs },
      )
    },

    pruneUploadKeys(): Promise<number> {
      return database.execute(`delete from upload_keys where created_at < now() - interval '1 day'`)
    },
  }
}

/** Longest look at all documents and the index of their chunks. */
const auditTimeoutMs = 10 * 60_000
