import type { OwnedDatabase } from '../platform/database/index.ts'
import type { Role } from '../platform/kernel/index.ts'

/** Counts for the operator's page of the system. */

interface InstanceRow {
  id: string
  /** null: of a version before roles. */
  role: Role | null
  name: string | null
  startedAt: Date
  heartbeatAt: Date
  /** By the database's clock. */
  silentMs: number
  leases: number
}

interface FailedDocumentRow {
  id: string
  organisationId: string
  spaceId: string
  name: string
  code: string
  message: string | null
  at: Date
}

interface DocumentCounts {
  status: 'ready' | 'processing' | 'failed'
  code: string | null
  documents: number
  bytes: bigint
  chunks: bigint
}

const maximumInstances = 100
const maximumTables = 8
const maximumFailedDocuments = 20

export function createSystemStore({ control, corpus }: { control: OwnedDatabase; corpus: OwnedDatabase }) {
  return {
    loadInstances: (timeoutMs: number): Promise<InstanceRow[]> =>
      control.query<InstanceRow>(
        `select instance_id as id, i.role, i.name, i.started_at as "startedAt", i.heartbeat_at as "heartbeatAt",
           (extract(epoch from clock_timestamp() - i.heartbeat_at) * 1000)::float8 as "silentMs",
           coalesce(l.leases, 0)::int4 as leases
         from ledger_instances i
         left join (select instance_id, count(*) as leases from ledger_leases group by instance_id) l using (instance_id)
         order by i.started_at desc limit ${maximumInstances}`,
        [],
        { timeoutMs },
      ),

    loadFailedDocuments: (timeoutMs: number): Promise<FailedDocumentRow[]> =>
      corpus.query<FailedDocumentRow>(
        `select coalesce(public_id, id) as id, organisation_id as "organisationId", space_id as "spaceId", name,
           error_code as code, error_message as message, updated_at as at
         from documents where status = 'failed' order by updated_at desc, id desc limit ${maximumFailedDocuments}`,
        [],
        { timeoutMs },
      ),

    /** One scan of the documents: call it seldom. */
    countDocuments: (timeoutMs: number): Promise<DocumentCounts[]> =>
      corpus.query<DocumentCounts>(
        `select status, error_code as code, count(*)::int4 as documents, coalesce(sum(size_bytes), 0)::int8 as bytes,
           coalesce(sum(chunk_count), 0)::int8 as chunks
         from documents group by status, error_code`,
        [],
        { timeoutMs, background: true },
      ),

    /** The tables of a database with their indexes, largest first, and the sum of all. */
    async loadSizes(name: 'control' | 'corpus', timeoutMs: number) {
      const rows = await { control, corpus }[name].query<{ name: string; bytes: bigint }>(
        `select c.relname as name, pg_total_relation_size(c.oid)::int8 as bytes
         from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
         order by bytes desc`,
        [],
        { timeoutMs, background: true },
      )
      const tables = rows.map((row) => ({ name: row.name, bytes: Number(row.bytes) }))
      const bytes = tables.reduce((sum, table) => sum + table.bytes, 0)
      return { name, bytes, tables: tables.slice(0, maximumTables) }
    },
  }
}

export type SystemStore = ReturnType<typeof createSystemStore>
