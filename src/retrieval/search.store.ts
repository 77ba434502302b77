import type { Database, QueryOptions } from '../database/index.ts'
import { isUuid, type OrganisationId, type SpaceId } from '../kernel/index.ts'
import type { Language } from './analysis/languages.ts'
import { bm25B, bm25K1, bm25Weight } from './bm25.ts'
import { type Generation, vectorParameter, vectorTable } from './generations.store.ts'
import { bm25IndexName, vectorIndexName } from './index-maintenance.store.ts'
import type { Passage } from './port.ts'

/** Most chunks that are ranked one by one; rarer terms choose them. Measured: 5,000 take about 20 ms on the embedded engine. */
export const maximumRankedChunks = 6_000
/** See docs/retrieval.md: recall 0.97 to 1.0 at 100 with relaxed order, which goes on until enough rows passed the filter. */
const hnswEfSearch = 100

export interface Scope {
  organisationId: OrganisationId
  spaceId: SpaceId
}

/** What a search has to know of its Space before it starts. */
export interface SpaceState {
  chunks: number
  averageTerms: number
  languages: Language[]
  generations: Generation[]
  bm25Index: boolean
  /** Ids of the generations whose vectors of this Space have an HNSW index. */
  vectorIndexes: number[]
}

export interface Candidate {
  chunkId: string
  /** Words: BM25, more is better. Vectors: cosine similarity. */
  score: number
}

export interface SearchStore {
  loadSpace(scope: Scope, options: QueryOptions): Promise<SpaceState>
  /** Best first. Only searchable chunks of the Space that hold one of the terms; never short while there are more. */
  findByWords(
    scope: Scope,
    space: SpaceState,
    request: { terms: readonly number[]; limit: number },
    options: QueryOptions,
  ): Promise<Candidate[]>
  /** Best first; any searchable chunk of the Space counts. `since`: only documents published after it. */
  findByVector(
    scope: Scope,
    space: SpaceState,
    request: { generation: Generation; vector: Float32Array; limit: number; since?: Date },
    options: QueryOptions,
  ): Promise<Candidate[]>
  /** Similarity of given chunks, for those that the words found and the vectors did not. */
  loadSimilarities(
    scope: Scope,
    request: { generation: Generation; vector: Float32Array; chunkIds: readonly string[] },
    options: QueryOptions,
  ): Promise<Candidate[]>
  loadPassages(scope: Scope, chunkIds: readonly string[], options: QueryOptions): Promise<Omit<Passage, 'score'>[]>
}

export function createSearchStore(database: Database): SearchStore {
  return {
    async loadSpace({ organisationId, spaceId }, options) {
      const [row] = await database.query<SpaceRow>(
        `with own as (
           select chunk_count, term_count, languages from indexed_documents
           where organisation_id = $1 and space_id = $2 and searchable
         )
         select coalesce(sum(chunk_count), 0)::int as chunks,
           coalesce(sum(term_count)::float8 / nullif(sum(chunk_count), 0), 0) as "averageTerms",
           (select coalesce(array_agg(distinct language), '{}') from own, unnest(languages) language) as languages,
           (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'embedderId', embedder_id, 'dimensions', dimensions,
              'storage', storage, 'state', state, 'createdAt', created_at) order by state), '[]')
            from embedding_generations where state <> 'retired') as generations,
           array(select c.relname::text from pg_class c join pg_index i on i.indexrelid = c.oid
             where i.indisvalid and c.relname like $3 and pg_table_is_visible(c.oid)) as indexes
         from own`,
        [organisationId, spaceId, `%\\_${indexSuffix(spaceId)}`],
        options,
      )
      return toSpaceState(spaceId, row!)
    },
    async findByWords(scope, space, request, options) {
      if (request.terms.length === 0 || space.chunks === 0) return []
      if (space.bm25Index) {
        const found = await findByBm25Index(database, scope, request, options)
        if (found) return found
      }
      return rankByWords(database, scope, space, request, options)
    },
    async findByVector(scope, space, request, options) {
      if (!request.since && space.vectorIndexes.includes(request.generation.id)) {
        const found = await findByVectorIndex(database, scope, request, options)
        if (found.length >= Math.min(request.limit, space.chunks)) return found
      }
      return findByEveryVector(database, scope, request, options)
    },
    loadSimilarities(scope, { generation, vector, chunkIds }, options) {
      return database.query<Candidate>(
        `select chunk_id as "chunkId", 1 - (embedding <=> $1::${generation.storage}) as score
         from ${vectorTable(generation)}
         where space_id = $2 and organisation_id = $3 and chunk_id = any($4::uuid[])`,
        [vectorParameter(generation, vector), scope.spaceId, scope.organisationId, [...chunkIds]],
        options,
      )
    },
    loadPassages(scope, chunkIds, options) {
      return database.query(
        `select c.id as "chunkId", c.document_id as "documentId", d.name as "documentName", d.source_url as url,
           c.content as text, c.heading_path as "headingPath", c.table_header as "tableHeader",
           c.chunk_index as "chunkIndex", c.page_from as "pageFrom", c.page_to as "pageTo", c.row_from as "rowFrom",
           c.row_to as "rowTo"
         from chunks c join indexed_documents i on i.document_id = c.document_id and i.searchable
           join documents d on d.id = c.document_id
         where c.space_id = $1 and c.organisation_id = $2 and c.id = any($3::uuid[])`,
        [scope.spaceId, scope.organisationId, [...chunkIds]],
        options,
      )
    },
  }
}

interface SpaceRow {
  chunks: number
  averageTerms: number
  languages: Language[]
  generations: (Omit<Generation, 'createdAt'> & { createdAt: string })[]
  indexes: string[]
}

function toSpaceState(spaceId: SpaceId, row: SpaceRow): SpaceState {
  const generations = row.generations.map((generation) => ({
    ...generation,
    createdAt: new Date(generation.createdAt),
  }))
  return {
    chunks: row.chunks,
    averageTerms: row.averageTerms,
    languages: row.languages,
    generations,
    bm25Index: row.indexes.includes(bm25IndexName(spaceId)),
    vectorIndexes: generations
      .filter((generation) => row.indexes.includes(vectorIndexName(generation.id, spaceId)))
      .map((generation) => generation.id),
  }
}

function indexSuffix(spaceId: SpaceId): string {
  return spaceId.replaceAll('-', '')
}

/**
 * A literal in place of a parameter, so that the planner proves the predicate of the Space's partial index whatever kind of
 * plan it makes. Checked to be a UUID and nothing else.
 */
function spaceLiteral(spaceId: SpaceId): string {
  if (!isUuid(spaceId)) throw new Error('a Space id is no UUID')
  return `'${spaceId}'::uuid`
}

/** Null: too few of the best are searchable, or none matched: the caller then ranks by itself. */
async function findByBm25Index(
  database: Database,
  scope: Scope,
  { terms, limit }: { terms: readonly number[]; limit: number },
  options: QueryOptions,
): Promise<Candidate[] | null> {
  const inner = limit * 2
  const best = await database.transaction(async (transaction) => {
    // The score is the index scan's own; another plan would leave it 0. Computed apart it costs 0.2 ms a row.
    await transaction.query(`select set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true)`)
    return transaction.query<Candidate & { searchable: boolean }>(
      `with best as materialized (
         select chunk_id, document_id, -bm25_get_current_score() as score from chunk_terms
         where space_id = ${spaceLiteral(scope.spaceId)} and organisation_id = $1
         order by chunk_terms_text(terms) <@> to_bm25query($2, '${bm25IndexName(scope.spaceId)}') limit $3
       )
       select b.chunk_id as "chunkId", b.score,
         exists (select from indexed_documents d where d.document_id = b.document_id and d.searchable) as searchable
       from best b`,
      [scope.organisationId, terms.join(' '), inner],
    )
  }, options)
  const found = best.filter((row) => row.searchable && row.score > 0)
  if (found.length < limit && (best.length >= inner || found.length === 0)) return null
  return found
    .map(({ chunkId, score }) => ({ chunkId, score }))
    .sort((left, right) => right.score - left.score)
    .slice(0, limit)
}

/** BM25 over the chunks that hold the query's rarer terms, counted one by one: exact while these are not too many. */
async function rankByWords(
  database: Database,
  scope: Scope,
  space: SpaceState,
  { terms, limit }: { terms: readonly number[]; limit: number },
  options: QueryOptions,
): Promise<Candidate[]> {
  const counted = await database.query<{ term: number; frequency: number }>(
    `select q.term, (select count(*) from (
         select 1 from chunk_terms c where c.terms @> array[q.term] and c.space_id = $2 and c.organisation_id = $3 limit $4
       ) found)::int as frequency
     from unnest($1::int[]) q (term)`,
    [[...terms], scope.spaceId, scope.organisationId, maximumRankedChunks],
    options,
  )
  const known = counted.filter(({ frequency }) => frequency > 0).sort((left, right) => left.frequency - right.frequency)
  if (known.length === 0) return []
  const weights = known.map(({ frequency }) => bm25Weight(space.chunks, frequency))
  return database.query<Candidate>(
    `with candidates as materialized (
       select c.chunk_id, c.terms from chunk_terms c
         join indexed_documents d on d.document_id = c.document_id and d.searchable
       where c.terms && $1::int[] and c.space_id = $2 and c.organisation_id = $3 limit $4
     )
     select chunk_id as "chunkId", score from candidates, lateral (
       select sum(q.weight * (1 + $7::float8) / (1 + $7::float8 *
           (1 - $8::float8 + $8::float8 * cardinality(terms) / greatest($9::float8, 1)) /
           nullif(width_bucket(q.term, terms) - width_bucket(q.term - 1, terms), 0))) as score
       from unnest($5::int[], $6::float8[]) q (term, weight)
     ) ranked order by score desc, chunk_id limit $10`,
    [
      choosingTerms(known),
      scope.spaceId,
      scope.organisationId,
      maximumRankedChunks,
      known.map(({ term }) => term),
      weights,
      bm25K1,
      bm25B,
      space.averageTerms,
      limit,
    ],
    options,
  )
}

/** The rarest terms, as many as together choose no more chunks than are ranked; always one. */
function choosingTerms(known: readonly { term: number; frequency: number }[]): number[] {
  let chosen = 0
  return known
    .filter(({ frequency }, index) => {
      chosen += frequency
      return index === 0 || chosen <= maximumRankedChunks
    })
    .map(({ term }) => term)
}

function findByEveryVector(
  database: Database,
  scope: Scope,
  request: { generation: Generation; vector: Float32Array; limit: number; since?: Date },
  options: QueryOptions,
): Promise<Candidate[]> {
  const { generation, vector, limit, since } = request
  return database.query<Candidate>(
    `select e.chunk_id as "chunkId", 1 - (e.embedding <=> $1::${generation.storage}) as score
     from ${vectorTable(generation)} e join indexed_documents d on d.document_id = e.document_id and d.searchable
     where e.space_id = $2 and e.organisation_id = $3 and d.updated_at >= $5::timestamptz
     order by (e.embedding <=> $1::${generation.storage}) + 0, e.chunk_id limit $4`,
    [vectorParameter(generation, vector), scope.spaceId, scope.organisationId, limit, since ?? new Date(0)],
    options,
  )
}

/** May be short where many of the nearest are not searchable yet: the caller then looks at every vector. */
async function findByVectorIndex(
  database: Database,
  scope: Scope,
  { generation, vector, limit }: { generation: Generation; vector: Float32Array; limit: number },
  options: QueryOptions,
): Promise<Candidate[]> {
  return database.transaction(async (transaction) => {
    await transaction.query(
      `select set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', $1, true)`,
      [String(hnswEfSearch)],
    )
    return transaction.query<Candidate>(
      `with nearest as materialized (
         select chunk_id, document_id, embedding <=> $1::${generation.storage} as distance from ${vectorTable(generation)}
         where space_id = ${spaceLiteral(scope.spaceId)} and organisation_id = $2
         order by embedding <=> $1::${generation.storage} limit $3
       )
       select n.chunk_id as "chunkId", 1 - n.distance as score
       from nearest n join indexed_documents d on d.document_id = n.document_id and d.searchable
       order by n.distance limit $4`,
      [vectorParameter(generation, vector), scope.organisationId, limit * 2, limit],
      options,
    )
  }, options)
}
