import type { OwnedDatabase, Queryable, QueryOptions, SqlValue } from '../../../../platform/database/index.ts'
import { describeError, type Log, type OrganisationId, type SpaceId } from '../../../../platform/kernel/index.ts'
import { type EmbeddingVersion, vectorTable } from '../../corpus/embedding-versions.store.ts'
import type { VectorUsage } from './segment-plan.ts'

/** A Space in one embedding version. */
export interface SegmentScope {
  organisationId: OrganisationId
  spaceId: SpaceId
  version: EmbeddingVersion
}

/** A segment that searches read. */
export interface ReadySegment extends SegmentPlace {
  versionId: number
  rows: number
}

export interface SegmentPlace {
  id: number
  /** Its table outside of the database; null: `segmentTable(id)`. */
  tableName: string | null
}

/** What keeps the rows of segments: tables of this database, or of another store. */
export interface SegmentStore {
  /** Address of the store; null: this database. */
  storage: string | null
  /** Name of a new table, never used before; null: named by its id. */
  newName(): string | null
  /** Makes its table, in the transaction that notes the segment. */
  create(transaction: Queryable, place: SegmentPlace, scope: SegmentScope): Promise<void>
  /** Copies the documents and builds the indexes; the segment is not searched yet. */
  fill(database: OwnedDatabase, place: SegmentPlace, segment: NewSegment): Promise<FilledSegment>
  /**
   * Removes the table, which may be missing. A table of this database: in the transaction that removes its note. Another: before it, because no
   * transaction may wait for another server.
   */
  drop(queryable: Queryable, place: SegmentPlace): Promise<void>
}

export interface FilledSegment {
  /** A query for what it has of each document: `document_id`, `chunks`, and the `run_id` of them or null. Its parameters begin with $7. */
  documents: string
  values: SqlValue[]
  /** An expression: all of its rows. */
  rows: string
}

/** Longest fill or index build of one segment: 120,000 vectors take a minute of processor time. */
const buildTimeoutMs = 2 * 60 * 60_000
/** A segment that is not ready after this time was left by a process that died. */
const abandonedAfterSeconds = 3 * 60 * 60
/** Searches that know a retired segment have ended: their limit is 15 s. */
export const retiredForSeconds = 120
/** Memory of a build, unless the server's `maintenance_work_mem` is higher: without enough, a build takes several times longer. */
const maximumBuildBytes = 512 * 2 ** 20
/**
 * A new segment is merged soon, and a small index needs fewer neighbours for the same recall: half of the time of a build with the
 * defaults of pgvector (`m` 16, `ef_construction` 64), which merged segments have.
 */
const newIndexOptions = 'with (m = 12, ef_construction = 40)'
/** Of the index in memory, for each vector, next to the vector: 32 neighbours and their distances. */
const buildBytesPerRow = 1_200
// Any number that no other class of advisory locks uses.
const publishLockClass = 704_199_422

export function segmentTable(id: number): string {
  return `vector_segment_${Math.trunc(id)}`
}

/** The Space's segments, of all embedding versions. */
export function loadReadySegments(
  queryable: Queryable,
  spaceId: SpaceId,
  options: QueryOptions,
  storage: string | null = null,
): Promise<ReadySegment[]> {
  return queryable.query<ReadySegment>(
    `select id, version_id as "versionId", chunk_count as rows, table_name as "tableName" from vector_segments
     where space_id = $1 and state = 'ready' and storage is not distinct from $2 order by id`,
    [spaceId, storage],
    options,
  )
}

/** How the Space's searchable chunks are spread over segments. */
export async function loadUsage(
  database: OwnedDatabase,
  { organisationId, spaceId, version }: SegmentScope,
  storage: string | null,
): Promise<VectorUsage> {
  const ready = await loadReadySegments(database, spaceId, {}, storage)
  const segments = ready.filter(({ versionId }) => versionId === version.id)
  const rows = await database.query<{ id: number | null; chunks: number; idleSeconds: number }>(
    `select s.id, sum(d.chunk_count)::int as chunks,
       extract(epoch from now() - max(d.updated_at))::float8 as "idleSeconds"
     from indexed_documents d left join lateral (
       select id from unnest(d.vector_segments) id where id = any($3::int[]) limit 1
     ) s on true
     where d.organisation_id = $1 and d.space_id = $2 and d.searchable group by 1`,
    [organisationId, spaceId, segments.map(({ id }) => id)],
    { background: true },
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return {
    tailChunks: byId.get(null)?.chunks ?? 0,
    tailIdleSeconds: byId.get(null)?.idleSeconds ?? 0,
    idleSeconds: Math.min(...rows.map(({ idleSeconds }) => idleSeconds)),
    segments: segments.map(({ id, rows: stored }) => ({ id, rows: stored, chunks: byId.get(id)?.chunks ?? 0 })),
  }
}

/** The oldest documents without a segment, up to a number of chunks; those that a search would find completely in this version. */
export async function loadTailDocuments(
  database: OwnedDatabase,
  { organisationId, spaceId, version }: SegmentScope,
  ready: readonly number[],
  maximumChunks: number,
): Promise<string[]> {
  // The vectors of a version that is being built arrive chunk by chunk.
  const isComplete =
    version.state === 'active'
      ? 'true'
      : `d.chunk_count = (select count(*) from ${vectorTable(version)} e where e.document_id = d.document_id)`
  const rows = await database.query<{ documentId: string }>(
    `select document_id as "documentId" from (
       select d.document_id, d.chunk_count,
         sum(d.chunk_count) over (order by d.updated_at, d.document_id) as chunks
       from indexed_documents d
       where d.organisation_id = $1 and d.space_id = $2 and d.searchable
         and not d.vector_segments && $3::int[] and ${isComplete}
     ) tail where chunks - chunk_count < $4`,
    [organisationId, spaceId, ready, maximumChunks],
    { background: true, timeoutMs: buildTimeoutMs },
  )
  return rows.map(({ documentId }) => documentId)
}

/** The searchable documents of segments. */
export async function loadSegmentDocuments(
  database: OwnedDatabase,
  { organisationId, spaceId }: SegmentScope,
  segments: readonly number[],
): Promise<string[]> {
  const rows = await database.query<{ documentId: string }>(
    `select document_id as "documentId" from indexed_documents
     where organisation_id = $1 and space_id = $2 and searchable and vector_segments && $3::int[]`,
    [organisationId, spaceId, segments],
    { background: true },
  )
  return rows.map(({ documentId }) => documentId)
}

export interface NewSegment {
  scope: SegmentScope
  documents: readonly string[]
  /** The ready segments whose documents these are; empty: documents without a segment. */
  replaces: readonly number[]
  log: Log
  signal?: AbortSignal | undefined
}

/**
 * Copies the documents into a new table, builds its indexes and then, in one short transaction, makes searches use it instead of the
 * segments that it replaces. Only that transaction locks rows that others write; documents that are locked, changed or deleted
 * meanwhile are left out, and are searched exactly. Null: none of the documents is left. Otherwise the name of the segment.
 */
export async function buildSegment(
  database: OwnedDatabase,
  store: SegmentStore,
  segment: NewSegment,
): Promise<string | null> {
  const place = await registerSegment(database, store, segment.scope)
  try {
    const filled = await store.fill(database, place, segment)
    const published = await publishSegment(database, store.storage, { id: place.id, segment, filled })
    return published === 0 ? null : segmentTable(place.id)
  } catch (error) {
    await retireSegments(database, [place.id]).catch((failure: unknown) =>
      segment.log.warn(
        { segment: place.id, error: describeError(failure) },
        'an incomplete segment stays for some hours',
      ),
    )
    throw error
  }
}

/** Segments as tables of this database with an HNSW index. */
export const tableSegments: SegmentStore = {
  storage: null,
  newName: () => null,
  async create(transaction, { id }, { version }) {
    // Without a reference to documents: each would make every delete of a document look into each segment.
    await transaction.execute(
      `create table ${segmentTable(id)} (
         chunk_id uuid not null,
         document_id uuid not null,
         embedding halfvec(${Math.trunc(version.dimensions)}) not null
       )`,
    )
    await transaction.execute(`alter table ${segmentTable(id)} alter column embedding set storage plain`)
  },
  async fill(database, { id }, { scope: { version }, documents, replaces, signal }) {
    const options = { background: true, timeoutMs: buildTimeoutMs, ...(signal ? { signal } : {}) }
    const rows = await database.execute(
      `insert into ${segmentTable(id)} (chunk_id, document_id, embedding)
       select chunk_id, document_id, l2_normalize(embedding)::halfvec(${version.dimensions})
       from ${vectorTable(version)} where document_id = any($1::uuid[])`,
      [documents],
      options,
    )
    // One statement, so that the settings hold for the build alone. One process: the other processors are for searches.
    await database.execute(
      `do $$ begin
         perform set_config('maintenance_work_mem', ${buildMemory(rows, version.dimensions)}, true),
           set_config('max_parallel_maintenance_workers', '0', true);
         create index on ${segmentTable(id)} using hnsw (embedding halfvec_ip_ops)
           ${replaces.length === 0 ? newIndexOptions : ''};
         analyze ${segmentTable(id)};
       end $$`,
      [],
      options,
    )
    return {
      documents: `select document_id, count(*) as chunks, null::uuid as run_id from ${segmentTable(id)} group by 1`,
      values: [],
      rows: `(select count(*) from ${segmentTable(id)})`,
    }
  },
  async drop(queryable, { id }) {
    await queryable.execute(`drop table if exists ${segmentTable(id)}`)
  },
}

/** In kilobytes, as an expression: the server's own setting where that is higher. */
function buildMemory(rows: number, dimensions: number): string {
  const bytes = Math.min(maximumBuildBytes, Math.max(1, rows) * (buildBytesPerRow + 2 * dimensions))
  return `greatest(${Math.ceil(bytes / 1024)}, (select setting::int from pg_settings where name = 'maintenance_work_mem'))::text`
}

function registerSegment(database: OwnedDatabase, store: SegmentStore, scope: SegmentScope): Promise<SegmentPlace> {
  const { organisationId, spaceId, version } = scope
  const tableName = store.newName()
  return database.transaction(
    async (transaction) => {
      const [row] = await transaction.query<{ id: number }>(
        `insert into vector_segments (version_id, organisation_id, space_id, state, storage, table_name)
         values ($1, $2, $3, 'building', $4, $5) returning id`,
        [version.id, organisationId, spaceId, store.storage, tableName],
      )
      const place = { id: row!.id, tableName }
      await store.create(transaction, place, scope)
      return place
    },
    { background: true },
  )
}

/** Returns the number of documents that are now in the segment. */
function publishSegment(
  database: OwnedDatabase,
  storage: string | null,
  { id, segment, filled }: { id: number; segment: NewSegment; filled: FilledSegment },
): Promise<number> {
  const { scope, documents, replaces } = segment
  return database.transaction(
    async (transaction) => {
      // Two instances may have built segments of the same documents: the second sees what the first has published.
      await transaction.query('select pg_advisory_xact_lock($1, hashtext($2))', [publishLockClass, scope.spaceId])
      const moved = await transaction.execute(
        `with stored as (
           ${filled.documents}
         ), free as (
           select d.document_id, d.run_id, d.chunk_count from indexed_documents d
           where d.document_id = any($1::uuid[]) and d.searchable and not exists (
             select from vector_segments r where r.id = any(d.vector_segments) and r.version_id = $2
               and r.state = 'ready' and r.id <> all($3::int[]) and r.storage is not distinct from $6
           ) for no key update skip locked
         )
         update indexed_documents d set vector_segments = array(
             select r.id from vector_segments r
             where r.id = any(d.vector_segments) and (r.state = 'ready' or r.changed_at > now() - make_interval(secs => $5))
           ) || $4::int
         from free join stored on stored.document_id = free.document_id and stored.chunks = free.chunk_count
           and (stored.run_id is null or stored.run_id = free.run_id)
         where d.document_id = free.document_id`,
        [documents, scope.version.id, replaces, id, retiredForSeconds, storage, ...filled.values],
      )
      const changed = await transaction.execute(
        `update vector_segments set changed_at = now(),
           state = case when id = $1 and $3::boolean then 'ready' else 'retired' end,
           chunk_count = case when id = $1 then ${filled.rows} else chunk_count end
         where (id = $1 and state = 'building') or (id = any($2::int[]) and state = 'ready')`,
        [id, replaces, moved > 0],
      )
      if (changed !== replaces.length + 1)
        throw new Error(`segment ${id} or one that it replaces was retired meanwhile`)
      return moved
    },
    { background: true },
  )
}

/** Searches that start later do not use them; their tables are dropped by `dropRetiredSegments`. */
export async function retireSegments(database: OwnedDatabase, segments: readonly number[]): Promise<void> {
  await database.execute(
    `update vector_segments set state = 'retired', changed_at = now() where id = any($1::int[]) and state <> 'retired'`,
    [segments],
  )
}

/** Retires the segments of embedding versions that are not live, and of builds that ended without a result. */
export async function retireLeftSegments(
  database: OwnedDatabase,
  versions: readonly EmbeddingVersion[],
): Promise<void> {
  await database.execute(
    `update vector_segments set state = 'retired', changed_at = now()
     where state <> 'retired' and (version_id <> all($1::int[])
       or (state = 'building' and changed_at < now() - make_interval(secs => $2)))`,
    [versions.map(({ id }) => id), abandonedAfterSeconds],
  )
}

/** Segments of other stores than this one: of the engine that searched before. */
export function loadOtherSegments(
  database: OwnedDatabase,
  storage: string | null,
): Promise<{ id: number; spaceId: SpaceId; versionId: number }[]> {
  return database.query(
    `select id, space_id as "spaceId", version_id as "versionId" from vector_segments
     where state <> 'retired' and storage is distinct from $1`,
    [storage],
  )
}

/**
 * Drops the tables of segments that no search reads any more. Returns their names. Tables of another store that is not in use stay
 * there: it may be out of reach.
 */
export async function dropRetiredSegments(
  database: OwnedDatabase,
  store: SegmentStore,
  afterSeconds: number,
): Promise<string[]> {
  const retired = await database.query<SegmentPlace & { storage: string | null }>(
    `select id, table_name as "tableName", storage from vector_segments
     where state = 'retired' and changed_at <= now() - make_interval(secs => $1)`,
    [afterSeconds],
  )
  for (const { storage, ...place } of retired) {
    if (storage !== null && storage === store.storage) await store.drop(database, place)
    await database.transaction(
      async (transaction) => {
        if (storage === null) await tableSegments.drop(transaction, place)
        await transaction.execute('delete from vector_segments where id = $1', [place.id])
      },
      { background: true },
    )
  }
  return retired.map(({ id }) => segmentTable(id))
}

/** Removes the vectors of documents that were deleted since the segment was built; no search shows them. */
export async function eraseDeleted(database: OwnedDatabase, id: number): Promise<void> {
  const erased = await database.execute(
    `delete from ${segmentTable(id)} s where not exists (
       select from indexed_documents d where d.document_id = s.document_id and d.vector_segments @> array[$1::int]
     )`,
    [id],
    { background: true, timeoutMs: buildTimeoutMs },
  )
  await database.execute('update vector_segments set chunk_count = chunk_count - $2 where id = $1', [id, erased])
}
