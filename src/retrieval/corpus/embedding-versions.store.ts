import { type Database, encodeHalfVector, encodeVector, type Queryable } from '../../database/index.ts'
import type { Embedder, EmbedderSource } from '../port.ts'

/** One embedding model's vectors: a table of their own, so that a new model's can grow beside the old one's. */
export interface Generation {
  id: number
  embedderId: string
  dimensions: number
  storage: 'vector' | 'halfvec'
  /** building: not yet complete. active: answers searches. retired: on its way out. */
  state: 'building' | 'active' | 'retired'
  createdAt: Date
  /** How its embedder is opened again; null: not known. */
  source: EmbedderSource | null
}

/** Columns of a Generation. */
export const generationColumns =
  'id, embedder_id as "embedderId", dimensions, storage, state, created_at as "createdAt", source'

export interface Generations {
  /**
   * Makes sure that vectors of this embedder have a place: the active generation where it is the embedder's or there is none
   * yet, else one that is being built beside it (`reindex.ts` fills it). Gives up the building of any other.
   */
  prepare(embedder: Pick<Embedder, 'id' | 'dimensions' | 'source'>): Promise<Generation>
  /** The live generations, the active one first. */
  load(queryable?: Queryable): Promise<Generation[]>
  /** Makes a building generation the active one, in one transaction; false where a chunk still lacks its vector. */
  activate(generation: Generation): Promise<boolean>
  /** Drops the tables of generations that were retired longer ago than `ageMs`. Returns how many. */
  dropRetired(ageMs: number): Promise<number>
}

/** Above this, 4-byte vectors leave their row (TOAST) and scans get 3 to 4 times slower; 2-byte ones in the row lose no recall. */
export const maximumVectorDimensions = 500
/** PLAIN storage has to fit a page of 8 KB: 2 bytes a dimension and the row's other columns. */
export const maximumHalfVectorDimensions = 4_000
// Any number that nothing else locks.
const generationLockKey = 7_041_994_220n

export function createGenerations(database: Database): Generations {
  return {
    prepare(embedder) {
      if (embedder.dimensions > maximumHalfVectorDimensions) {
        throw new Error(
          `embeddings of ${embedder.dimensions} dimensions do not fit: at most ${maximumHalfVectorDimensions}; set embeddings.dimensions`,
        )
      }
      return database.transaction(async (transaction) => {
        await transaction.query('select pg_advisory_xact_lock($1)', [generationLockKey])
        const live = await loadLive(transaction)
        const active = live.find((generation) => generation.state === 'active')
        for (const other of live) {
          if (other.state === 'building' && other.embedderId !== embedder.id) await retire(transaction, other.id)
        }
        const own = live.find((generation) => generation.embedderId === embedder.id)
        if (own) {
          // The same model may lie elsewhere now.
          await transaction.execute(
            'update embedding_generations set source = coalesce($2::jsonb, source) where id = $1',
            [own.id, sourceText(embedder)],
          )
          return own
        }
        return create(transaction, embedder, active ? 'building' : 'active')
      })
    },
    load: (queryable = database) => loadLive(queryable),
    activate(generation) {
      return database.transaction(async (transaction) => {
        await transaction.query('select pg_advisory_xact_lock($1)', [generationLockKey])
        // No batch of an ingestion may come between the check and the switch.
        await transaction.execute('lock table chunks in share mode')
        const [missing] = await transaction.query(
          `select 1 from chunks c where not exists (select from ${vectorTable(generation)} e
             where e.space_id = c.space_id and e.chunk_id = c.id) limit 1`,
        )
        if (missing) return false
        await transaction.execute(
          `update embedding_generations set state = 'retired', changed_at = now() where state = 'active' and id <> $1`,
          [generation.id],
        )
        const switched = await transaction.execute(
          `update embedding_generations set state = 'active', changed_at = now() where id = $1 and state = 'building'`,
          [generation.id],
        )
        if (switched === 0) throw new Error(`generation ${generation.id} is no longer being built`)
        return true
      })
    },
    async dropRetired(ageMs) {
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

/** The table of a generation's vectors. */
export function vectorTable(generation: { id: number }): string {
  return `embeddings_${Math.trunc(generation.id)}`
}

/** A vector as the parameter that its table takes; cast it with `::<storage>`. */
export function vectorParameter(generation: Generation, values: Float32Array): Uint8Array {
  if (values.length !== generation.dimensions) {
    throw new Error(
      `the embedder ${generation.embedderId} made ${values.length} dimensions instead of ${generation.dimensions}`,
    )
  }
  return generation.storage === 'vector' ? encodeVector(values) : encodeHalfVector(values)
}

async function loadLive(queryable: Queryable): Promise<Generation[]> {
  return queryable.query<Generation>(
    `select ${generationColumns} from embedding_generations where state <> 'retired' order by state`,
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
  state: Generation['state'],
): Promise<Generation> {
  const storage = embedder.dimensions > maximumVectorDimensions ? 'halfvec' : 'vector'
  const [generation] = await transaction.query<Generation>(
    `insert into embedding_generations (embedder_id, dimensions, storage, state, source) values ($1, $2, $3, $4, $5::jsonb)
     returning ${generationColumns}`,
    [embedder.id, embedder.dimensions, storage, state, sourceText(embedder)],
  )
  const table = vectorTable(generation!)
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
  return generation!
}
