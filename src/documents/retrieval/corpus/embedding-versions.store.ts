import { type OwnedDatabase, encodeHalfVector, encodeVector, type Queryable } from '../../../platform/database/index.ts'
import type { Embedder, EmbedderSource } from '../embedders/embedder.ts'

/**
 * The vectors of one embedding model, in a separate table, so that a new model's vectors can be added next to the old one's.
 * SQL keeps the first name, `embedding_generations`: migrations are never edited, and a rename would change nothing else.
 */
export interface EmbeddingVersion {
  id: number
  embedderId: string
  dimensions: number
  storage: 'vector' | 'halfvec'
  /** building: not yet complete. active: answers searches. retired: no longer used, dropped later. */
  state: 'building' | 'active' | 'retired'
  createdAt: Date
  /** How to open its embedder again; null: not known. */
  source: EmbedderSource | null
}

export const versionColumns =
  'id, embedder_id as "embedderId", dimensions, storage, state, created_at as "createdAt", source'

export type EmbeddingVersions = ReturnType<typeof createEmbeddingVersions>

/** Above this, 4-byte vectors leave their row (TOAST) and scans get 3 to 4 times slower; 2-byte ones in the row lose no recall. */
export const maximumVectorDimensions = 500
/** PLAIN storage has to fit a page of 8 KB: 2 bytes a dimension and the row's other columns. */
export const maximumHalfVectorDimensions = 4_000
// Any number that no other advisory lock uses.
const versionLockKey = 7_041_994_220n

export function createEmbeddingVersions(database: OwnedDatabase) {
  return {
    /**
     * Returns the version that stores this embedder's vectors, and creates it if needed: active where there is no other yet,
     * otherwise `building` (`reindexStep` fills it). Retires any other version that is being built.
     */
    prepare(embedder: Pick<Embedder, 'id' | 'dimensions' | 'source'>): Promise<EmbeddingVersion> {
      if (embedder.dimensions > maximumHalfVectorDimensions) {
        throw new Error(
          `embeddings of ${embedder.dimensions} dimensions do not fit: at most ${maximumHalfVectorDimensions}; set embeddings.dimensions`,
        )
      }
      return database.transaction(async (transaction) => {
        await transaction.query('select pg_advisory_xact_lock($1)', [versionLockKey])
        const live = await loadEmbeddingVersions(transaction)
        const active = live.find((version) => version.state === 'active')
        const others = live.filter(({ state, embedderId }) => state === 'building' && embedderId !== embedder.id)
        for (const other of others) await retire(transaction, other.id)
        const own = live.find((version) => version.embedderId === embedder.id)
        if (own) {
          // The model's files may have moved. Chunks that were inserted for the others lack a vector of this one.
          await transaction.execute(
            `update embedding_generations set source = coalesce($2::jsonb, source),
               position_space_id = case when $3 then null else position_space_id end,
               position_chunk_id = case when $3 then null else position_chunk_id end where id = $1`,
            [own.id, sourceText(embedder), others.length > 0],
          )
          return own
        }
        return create(transaction, embedder, active ? 'building' : 'active')
      })
    },
    /** Live versions, the active one first. */
    load: (): Promise<EmbeddingVersion[]> => loadEmbeddingVersions(database),
    /** Makes a building version the active one, in one transaction; false if a chunk still lacks its vector. */
    activate(version: EmbeddingVersion): Promise<boolean> {
      return database.transaction(async (transaction) => {
        await transaction.query('select pg_advisory_xact_lock($1)', [versionLockKey])
        // No batch of an ingestion may be inserted between the check and the switch.
        await transaction.execute('lock table chunks in share mode')
        const [missing] = await transaction.query(
          `select 1 from chunks c where not exists (select from ${vectorTable(version)} e
             where e.space_id = c.space_id and e.chunk_id = c.id) limit 1`,
        )
        if (missing) return false
        await transaction.execute(
          `update embedding_generations set state = 'retired', changed_at = now() where state = 'active' and id <> $1`,
          [version.id],
        )
        const switched = await transaction.execute(
          `update embedding_generations set state = 'active', changed_at = now() where id = $1 and state = 'building'`,
          [version.id],
        )
        if (switched === 0) throw new Error(`embedding version ${version.id} is no longer being built`)
        return true
      })
    },
    /** Drops the tables of versions that were retired longer ago than `ageMs`. Returns how many. */
    async dropRetired(ageMs: number): Promise<number> {
      const retired = await database.query<{ id: number }>(
        `select id from embedding_generations
         where state = 'retired' and changed_at < now() - make_interval(secs => $1::float8)`,
        [ageMs / 1000],
      )
      for (const { id } of retired) {
        await database.transaction(async (transaction) => {
          await transaction.execute(`drop table if exists ${vectorTable({ id })}`)
          await transaction.execute('delete from embedding_generations where id = $1', [id])
        })
      }
      return retired.length
    },
  }
}

/** The table of a version's vectors. */
export function vectorTable(version: { id: number }): string {
  return `embeddings_${Math.trunc(version.id)}`
}

/** A vector as a parameter of its table; cast it with `::<storage>`. */
export function vectorParameter(version: EmbeddingVersion, values: Float32Array): Uint8Array {
  if (values.length !== version.dimensions) {
    throw new Error(
      `the embedder ${version.embedderId} made ${values.length} dimensions instead of ${version.dimensions}`,
    )
  }
  return version.storage === 'vector' ? encodeVector(values) : encodeHalfVector(values)
}

export async function loadEmbeddingVersions(queryable: Queryable): Promise<EmbeddingVersion[]> {
  return queryable.query<EmbeddingVersion>(
    `select ${versionColumns} from embedding_generations where state <> 'retired' order by state`,
  )
}

function sourceText({ source }: Pick<Embedder, 'source'>): string | null {
  return source ? JSON.stringify(source) : null
}

async function retire(transaction: Queryable, id: number): Promise<void> {
  await transaction.execute(`update embedding_generations set state = 'retired', changed_at = now() where id = $1`, [
    id,
  ])
}

async function create(
  transaction: Queryable,
  embedder: Pick<Embedder, 'id' | 'dimensions' | 'source'>,
  state: EmbeddingVersion['state'],
): Promise<EmbeddingVersion> {
  const storage = embedder.dimensions > maximumVectorDimensions ? 'halfvec' : 'vector'
  const [version] = await transaction.query<EmbeddingVersion>(
    `insert into embedding_generations (embedder_id, dimensions, storage, state, source) values ($1, $2, $3, $4, $5::jsonb)
     returning ${versionColumns}`,
    [embedder.id, embedder.dimensions, storage, state, sourceText(embedder)],
  )
  const table = vectorTable(version!)
  await transaction.execute(
    `create table ${table} (
       organisation_id uuid not null,
       space_id uuid not null,
       chunk_id uuid not null,
       document_id uuid not null references indexed_documents (document_id) on delete cascade,
       embedding ${storage}(${Math.trunc(embedder.dimensions)}) not null,
       primary key (space_id, chunk_id)
     )`,
  )
  await transaction.execute(`alter table ${table} alter column embedding set storage plain`)
  await transaction.execute(`create index ${table}_by_document on ${table} (document_id)`)
  return version!
}
