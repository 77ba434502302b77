import type { Queryable, QueryOptions } from '../../database/index.ts'
import { isUuid, type OrganisationId, type SpaceId } from '../../kernel/index.ts'
import { termsVersion } from '../lexical/analyse-text.ts'
import type { Language } from '../lexical/languages.ts'
import type { Generation } from './embedding-versions.store.ts'
import { bm25IndexName, termIndexName, vectorIndexName } from '../engines/postgres/index-maintenance.store.ts'

export interface Scope {
  organisationId: OrganisationId
  spaceId: SpaceId
}

/** What a search has to know of its Space before it starts. */
export interface SpaceState {
  /** Searchable ones. */
  chunks: number
  averageTerms: number
  languages: Language[]
  /** Some documents have terms of an older version of text analysis. */
  hasFormerTerms: boolean
  generations: Generation[]
  bm25Index: boolean
  /** The one index of all terms, where there are no BM25 indexes. */
  termIndex: boolean
  /** Ids of the generations whose vectors of this Space have an HNSW index. */
  vectorIndexes: number[]
}

export interface Candidate {
  chunkId: string
  /** Words: BM25, more is better. Vectors: cosine similarity. */
  score: number
}

interface SpaceRow {
  chunks: number
  averageTerms: number
  languages: Language[]
  hasFormerTerms: boolean
  generations: (Omit<Generation, 'createdAt'> & { createdAt: string })[]
  indexes: string[]
}

export async function loadSpaceState(
  queryable: Queryable,
  { organisationId, spaceId }: Scope,
  options: QueryOptions,
): Promise<SpaceState> {
  const [row] = await queryable.query<SpaceRow>(
    `with own as (
       select chunk_count, term_count, languages, terms_version from indexed_documents
       where organisation_id = $1 and space_id = $2 and searchable
     )
     select coalesce(sum(chunk_count), 0)::int as chunks,
       coalesce(sum(term_count)::float8 / nullif(sum(chunk_count), 0), 0) as "averageTerms",
       (select coalesce(array_agg(distinct language), '{}') from own, unnest(languages) language) as languages,
       exists (select from own where terms_version < ${termsVersion}) as "hasFormerTerms",
       (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'embedderId', embedder_id, 'dimensions', dimensions,
          'storage', storage, 'state', state, 'createdAt', created_at, 'source', source) order by state), '[]')
        from embedding_generations where state <> 'retired') as generations,
       array(select c.relname::text from pg_class c join pg_index i on i.indexrelid = c.oid
         where i.indisvalid and (c.relname like $3 or c.relname = '${termIndexName}') and pg_table_is_visible(c.oid)) as indexes
     from own`,
    [organisationId, spaceId, `%\\_${spaceId.replaceAll('-', '')}`],
    options,
  )
  return toSpaceState(spaceId, row!)
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
    hasFormerTerms: row.hasFormerTerms,
    generations,
    bm25Index: row.indexes.includes(bm25IndexName(spaceId)),
    termIndex: row.indexes.includes(termIndexName),
    vectorIndexes: generations
      .filter((generation) => row.indexes.includes(vectorIndexName(generation.id, spaceId)))
      .map((generation) => generation.id),
  }
}

/**
 * A literal in place of a parameter, so that the planner proves the predicate of the Space's partial index whatever kind of
 * plan it makes. Checked to be a UUID and nothing else.
 */
export function spaceLiteral(spaceId: SpaceId): string {
  if (!isUuid(spaceId)) throw new Error('a Space id is no UUID')
  return `'${spaceId}'::uuid`
}
