import type { Queryable, QueryOptions, SqlValue } from '../../../platform/database/index.ts'
import type { ReadScope } from '../engine.ts'
import { termsVersion } from '../lexical/analyse-text.ts'
import type { Language } from '../../../platform/language/index.ts'
import type { EmbeddingVersion } from './embedding-versions.store.ts'
import { andMatching } from './filter-condition.store.ts'

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
