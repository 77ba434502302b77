import type { Database, Queryable, QueryOptions } from '../../database/index.ts'
import type { QueryTerm } from '../lexical/bm25.ts'
import type { Passage } from '../port.ts'
import { type Candidate, loadSpaceState, type Scope, type SpaceState } from './space-state.store.ts'
import { findByVector, loadSimilarities, type VectorRequest } from '../engines/postgres/hnsw-index.store.ts'
import { findByWords } from '../engines/exact-scan.store.ts'

/** The statements of one search. */
export interface SearchQueries {
  findByWords(space: SpaceState, request: { terms: readonly QueryTerm[]; limit: number }): Promise<Candidate[]>
  findByVector(space: Pick<SpaceState, 'chunks' | 'vectorIndexes'>, request: VectorRequest): Promise<Candidate[]>
  loadSimilarities(
    request: Omit<VectorRequest, 'limit' | 'since'> & { chunkIds: readonly string[] },
  ): Promise<Candidate[]>
  /** In no order; chunks that were deleted meanwhile are left out. */
  loadPassages(chunkIds: readonly string[]): Promise<Omit<Passage, 'score'>[]>
}

export interface SearchStore {
  loadSpace(scope: Scope, options: QueryOptions): Promise<SpaceState>
  /** The statements in one read of the database, as quick as the engine can make it. */
  read<T>(scope: Scope, options: QueryOptions, work: (queries: SearchQueries) => Promise<T>): Promise<T>
  /** The statements one by one. */
  queriesOf(scope: Scope, options: QueryOptions): SearchQueries
}

/** `onSearch`: called when a search reads. */
export function createSearchStore(database: Database, onSearch: () => void): SearchStore {
  return {
    loadSpace: (scope, options) => loadSpaceState(database, scope, options),
    read(scope, options, work) {
      onSearch()
      // Each statement on a connection of its own: the two halves of a search run side by side.
      if (database.engine === 'postgres') return work(singly(scope, options))
      // One connection for all: a search waits once for the others, and not again before each of its statements.
      return database.transaction(
        (transaction) => work(queriesOf(transaction, (run) => run(transaction), scope, options)),
        options,
      )
    },
    queriesOf(scope, options) {
      onSearch()
      return singly(scope, options)
    },
  }

  function singly(scope: Scope, options: QueryOptions): SearchQueries {
    return queriesOf(database, (run) => database.transaction(run, options), scope, options)
  }
}

type Run = <T>(run: (transaction: Queryable) => Promise<T>) => Promise<T>

function queriesOf(queryable: Queryable, inTransaction: Run, scope: Scope, options: QueryOptions): SearchQueries {
  return {
    findByWords: (space, request) => findByWords(queryable, scope, space, request, options),
    findByVector(space, request) {
      const run = (one: Queryable) => findByVector(one, scope, space, request, options)
      return space.vectorIndexes.includes(request.generation.id) ? inTransaction(run) : run(queryable)
    },
    loadSimilarities: (request) => loadSimilarities(queryable, scope, request, options),
    loadPassages: (chunkIds) => loadPassages(queryable, scope, chunkIds, options),
  }
}

function loadPassages(
  queryable: Queryable,
  scope: Scope,
  chunkIds: readonly string[],
  options: QueryOptions,
): Promise<Omit<Passage, 'score'>[]> {
  return queryable.query(
    `select c.id as "chunkId", coalesce(d.public_id, d.id) as "documentId", d.name as "documentName", d.source_url as url,
       c.content as text, c.heading_path as "headingPath", c.table_header as "tableHeader",
       c.chunk_index as "chunkIndex", c.page_from as "pageFrom", c.page_to as "pageTo", c.row_from as "rowFrom",
       c.row_to as "rowTo"
     from chunks c join indexed_documents i on i.document_id = c.document_id and i.searchable
       join documents d on d.id = c.document_id
     where c.space_id = $1 and c.organisation_id = $2 and c.id = any($3::uuid[])`,
    [scope.spaceId, scope.organisationId, [...chunkIds]],
    options,
  )
}
