import type { Queryable, QueryOptions, SqlValue } from '../../../platform/database/index.ts'
import { type EmbeddingVersion, vectorParameter, vectorTable } from '../corpus/embedding-versions.store.ts'
import { andMatching } from '../corpus/passages.store.ts'
import type { ReadScope } from '../engine.ts'
import { allVariants, chooseTerms, maximumRankedTerms, type QueryTerm, rankByBm25 } from '../lexical/bm25.ts'
import type { CorpusSearch, ScoredChunk, VectorRequest } from '../fusion.ts'
import { termsVersion } from '../lexical/analyse-text.ts'
import type { Language } from '../../../platform/language/index.ts'

export interface ScanContext {
  queryable: Queryable
  scope: ReadScope
  space: Pick<SpaceState, 'chunks' | 'averageTerms'> & Partial<Pick<SpaceState, 'allChunks'>>
  options: QueryOptions
}

/** Chunks whose terms are counted to choose among the terms of a long query. */
export const sampledChunks = 2_000

/** Conditions on a column with the id of a document's row; `documentIds` are those that clients use. Adds its parameters to `values`. */
function andWanted(scope: ReadScope, values: SqlValue[], column: string): string {
  const matches = andMatching(scope, values)(column)
  if (!scope.documentIds) return matches
  values.push([...scope.documentIds])
  return `${matches} and ${column} in (
     select w.id from documents w where coalesce(w.public_id, w.id) = any($${values.length}::uuid[]) and w.is_current)`
}

/** Searches a Space by reading all of it: exact, without an index that would slow down every insert. Searchable chunks only. */
export function createExactScan(context: ScanContext): CorpusSearch {
  return {
    byTerms: async (terms, limit) => scanTerms(context, await selectTerms(context, terms), limit),
    byVector: (request) => scanVectors(context, request),
    similarities: (request) => loadSimilarities(context, request),
  }
}

/** The terms that can add the most to a score, by their frequency in a part of the Space, where the query has too many. */
export async function selectTerms(
  { queryable, scope, space, options }: ScanContext,
  terms: readonly QueryTerm[],
): Promise<readonly QueryTerm[]> {
  if (terms.length <= maximumRankedTerms) return terms
  const values: SqlValue[] = [allVariants(terms), scope.spaceId, scope.organisationId]
  const counted = await queryable.query<{ term: number; frequency: number }>(
    `select t.term, count(*)::int as frequency
     from (
       select c.terms from chunk_terms c join indexed_documents d on d.document_id = c.document_id and d.searchable
       where c.space_id = $2 and c.organisation_id = $3 ${andWanted(scope, values, 'c.document_id')} limit ${sampledChunks}
     ) c, lateral (select distinct unnest(c.terms) as term) t
     where t.term = any($1::int[]) group by 1`,
    values,
    options,
  )
  const frequencies = new Map(counted.map(({ term, frequency }) => [term, frequency]))
  // In a larger Space, a term that the sample lacks may occur in the rest.
  const unseen = space.chunks > sampledChunks ? 1 : 0
  return chooseTerms(terms, (term) => frequencies.get(term) ?? unseen, Math.min(space.chunks, sampledChunks))
}

/** Chunks that contain one of the terms, by BM25; terms are counted by binary search in a chunk's sorted terms. */
export async function scanTerms(
  { queryable, scope, space, options }: ScanContext,
  terms: readonly QueryTerm[],
  limit: number,
): Promise<ScoredChunk[]> {
  if (terms.length === 0) return []
  const values: SqlValue[] = [allVariants(terms), scope.spaceId, scope.organisationId]
  const rows = await queryable.query<{ chunkId: string; length: number; counts: string }>(
    `select c.chunk_id as "chunkId", cardinality(c.terms) as length, array_to_string(array(
         select width_bucket(q.term, c.terms) - width_bucket(q.term - 1, c.terms) from unnest($1::int[]) q (term)
       ), ' ') as counts
     from chunk_terms c join indexed_documents d on d.document_id = c.document_id and d.searchable
     where c.terms && $1::int[] and c.space_id = $2 and c.organisation_id = $3 ${andWanted(scope, values, 'c.document_id')}`,
    values,
    options,
  )
  const hits = rows.map(({ chunkId, length, counts }) => ({ chunkId, length, counts: counts.split(' ').map(Number) }))
  return rankByBm25(hits, { chunks: space.chunks, averageLength: space.averageTerms, terms }).slice(0, limit)
}

/** Chunks by cosine similarity; never short of the limit while there are more. */
function scanVectors(
  { queryable, scope, options }: ScanContext,
  { version, vector, limit, since }: VectorRequest,
): Promise<ScoredChunk[]> {
  const values: SqlValue[] = [
    vectorParameter(version, vector),
    scope.spaceId,
    scope.organisationId,
    limit,
    since ?? new Date(0),
  ]
  // `+ 0` keeps the planner from an index, which would return a part only.
  return queryable.query<ScoredChunk>(
    `select e.chunk_id as "chunkId", 1 - (e.embedding <=> $1::${version.storage}) as score
     from ${vectorTable(version)} e join indexed_documents d on d.document_id = e.document_id and d.searchable
     where e.space_id = $2 and e.organisation_id = $3 and d.updated_at >= $5::timestamptz
       ${andWanted(scope, values, 'e.document_id')}
     order by (e.embedding <=> $1::${version.storage}) + 0, e.chunk_id limit $4`,
    values,
    options,
  )
}

function loadSimilarities(
  { queryable, scope, options }: ScanContext,
  { version, vector, chunkIds }: Parameters<CorpusSearch['similarities']>[0],
): Promise<ScoredChunk[]> {
  return queryable.query<ScoredChunk>(
    `select chunk_id as "chunkId", 1 - (embedding <=> $1::${version.storage}) as score
     from ${vectorTable(version)}
     where space_id = $2 and organisation_id = $3 and chunk_id = any($4::uuid[])`,
    [vectorParameter(version, vector), scope.spaceId, scope.organisationId, chunkIds],
    options,
  )
}

/** What a search through the corpus needs to know about its Space before it starts; with a filter, about the documents that match. */
export interface SpaceState {
  /** Searchable ones. */
  chunks: number
  /** Those of the Space, whatever the filter. */
  allChunks: number
  averageTerms: number
  languages: Language[]
  /** Some documents have terms of an older version of text analysis. */
  hasFormerTerms: boolean
  /** Live ones, the active one first. */
  embeddingVersions: EmbeddingVersion[]
}

type SpaceRow = Omit<SpaceState, 'embeddingVersions'> & {
  embeddingVersions: (Omit<EmbeddingVersion, 'createdAt'> & { createdAt: string })[]
}

export async function loadSpaceState(
  queryable: Queryable,
  scope: ReadScope,
  options: QueryOptions,
): Promise<SpaceState> {
  const values: SqlValue[] = [scope.organisationId, scope.spaceId]
  const matches = andMatching(scope, values)('document_id')
  const all = `(select sum(chunk_count) from indexed_documents where organisation_id = $1 and space_id = $2 and searchable)`
  const [row] = await queryable.query<SpaceRow>(
    // Grouped first: a Space has thousands of documents, and few combinations of languages.
    `with own as (
       select languages, sum(chunk_count) as chunks, sum(term_count) as terms, min(terms_version) as terms_version
       from indexed_documents where organisation_id = $1 and space_id = $2 and searchable ${matches} group by languages
     )
     select coalesce(sum(chunks), 0)::int as chunks,
       coalesce(${scope.filter ? all : 'sum(chunks)'}, 0)::int as "allChunks",
       coalesce(sum(terms)::float8 / nullif(sum(chunks), 0)::float8, 0) as "averageTerms",
       (select coalesce(array_agg(distinct language), '{}') from own, unnest(languages) language) as languages,
       coalesce(min(terms_version) < ${termsVersion}, false) as "hasFormerTerms",
       (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'embedderId', embedder_id, 'dimensions', dimensions,
          'storage', storage, 'state', state, 'createdAt', created_at, 'source', source) order by state), '[]')
        from embedding_generations where state <> 'retired') as "embeddingVersions"
     from own`,
    values,
    options,
  )
  const embeddingVersions = row!.embeddingVersions.map((version) => ({
    ...version,
    createdAt: new Date(version.createdAt),
  }))
  return { ...row!, embeddingVersions }
}
