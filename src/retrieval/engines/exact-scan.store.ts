import type { Queryable, QueryOptions } from '../../database/index.ts'
import {
  allVariants,
  chooseTerms,
  maximumRankedWords,
  type QueryTerm,
  rankByBm25,
  type TermCounts,
} from '../lexical/bm25.ts'
import { bm25IndexName } from './postgres/index-maintenance.store.ts'
import { type Candidate, type Scope, type SpaceState, spaceLiteral } from '../corpus/space-state.store.ts'

/** Most chunks that are ranked one by one where a term index chooses them; the rarer terms choose. About 20 ms on a server. */
export const maximumChosenChunks = 10_000

/** Chunks whose words are counted to choose among the words of a long query. */
const sampledChunks = 2_000

interface WordRequest {
  terms: readonly QueryTerm[]
  limit: number
}

/** Chunks of the Space that hold one of the terms, by BM25, best first; only searchable ones, never short while there are more. */
export async function findByWords(
  queryable: Queryable,
  scope: Scope,
  space: SpaceState,
  { terms: all, limit }: WordRequest,
  options: QueryOptions,
): Promise<Candidate[]> {
  if (all.length === 0 || space.chunks === 0) return []
  const terms = all.length <= maximumRankedWords ? all : await chooseBySample(queryable, scope, space, all, options)
  const request = { terms, limit }
  if (space.bm25Index) {
    const found = await findByBm25Index(queryable, scope, request, options)
    if (found) return found
  }
  return space.termIndex
    ? rankChosen(queryable, scope, space, request, options)
    : rankAll(queryable, scope, space, request, options)
}

/** Null: too few of the best are searchable, or the planner went another way: the caller then ranks by itself. */
async function findByBm25Index(
  queryable: Queryable,
  scope: Scope,
  { terms, limit }: WordRequest,
  options: QueryOptions,
): Promise<Candidate[] | null> {
  const inner = limit * 2
  // A subselect, not a CTE: inside a CTE the extension computes every score a second time, 0.13 ms a row.
  const best = await queryable.query<Candidate & { searchable: boolean }>(
    `select best.chunk_id as "chunkId", best.score, d.searchable
     from (
       select chunk_id, document_id, -bm25_get_current_score() as score from chunk_terms
       where space_id = ${spaceLiteral(scope.spaceId)} and organisation_id = $1
       order by chunk_terms_text(terms) <@> to_bm25query($2, '${bm25IndexName(scope.spaceId)}') limit $3
     ) best join indexed_documents d on d.document_id = best.document_id`,
    [scope.organisationId, repeatedByWeight(terms).join(' '), inner],
    options,
  )
  // The score is the index scan's own and costs nothing; any other plan leaves it 0 or the same for all.
  if (best.length > 1 && best.every((row) => row.score === best[0]!.score)) return null
  const found = best.filter((row) => row.searchable && row.score > 0)
  if (found.length < limit && (best.length >= inner || found.length === 0)) return null
  return found
    .map(({ chunkId, score }) => ({ chunkId, score }))
    .sort((left, right) => right.score - left.score)
    .slice(0, limit)
}

/** The extension counts repeats of a term in a query; whole numbers stand for the weights. */
function repeatedByWeight(terms: readonly QueryTerm[]): number[] {
  const lightest = Math.min(1, ...terms.map(({ weight }) => weight))
  return terms.flatMap(({ variants, weight }) => {
    const repeats = Math.min(maximumRepeats, Math.round(weight / lightest))
    return variants.flatMap((variant) => Array.from({ length: repeats }, () => variant))
  })
}

const maximumRepeats = 10

/** The most telling words of a long query, by what a part of the Space holds; in a larger Space a word may stand in the rest. */
async function chooseBySample(
  queryable: Queryable,
  scope: Scope,
  space: SpaceState,
  terms: readonly QueryTerm[],
  options: QueryOptions,
): Promise<QueryTerm[]> {
  const counted = await queryable.query<{ term: number; frequency: number }>(
    `select t.term, count(*)::int as frequency
     from (
       select c.terms from chunk_terms c join indexed_documents d on d.document_id = c.document_id and d.searchable
       where c.space_id = $2 and c.organisation_id = $3 limit ${sampledChunks}
     ) c, lateral (select distinct unnest(c.terms) as term) t
     where t.term = any($1::int[]) group by 1`,
    [allVariants(terms), scope.spaceId, scope.organisationId],
    options,
  )
  const frequencies = new Map(counted.map(({ term, frequency }) => [term, frequency]))
  const elsewhere = space.chunks > sampledChunks ? 1 : 0
  return chooseTerms(terms, (term) => frequencies.get(term) ?? elsewhere, Math.min(space.chunks, sampledChunks))
}

/** Every chunk of the Space is looked at: exact, and without an index that would slow down every insert. */
async function rankAll(
  queryable: Queryable,
  scope: Scope,
  space: SpaceState,
  { terms, limit }: WordRequest,
  options: QueryOptions,
): Promise<Candidate[]> {
  const variants = allVariants(terms)
  const hits = await loadCounts(queryable, scope, { terms: variants, choosing: variants, most: null }, options)
  return rankByBm25(hits, { chunks: space.chunks, averageLength: space.averageTerms, terms }).slice(0, limit)
}

/** Where a term index is there in place of BM25 indexes: the rarest terms choose the chunks that are ranked. */
async function rankChosen(
  queryable: Queryable,
  scope: Scope,
  space: SpaceState,
  { terms, limit }: WordRequest,
  options: QueryOptions,
): Promise<Candidate[]> {
  const counted = await queryable.query<{ term: number; frequency: number }>(
    `select q.term, (select count(*) from (
         select 1 from chunk_terms c where c.terms @> array[q.term] and c.space_id = $2 and c.organisation_id = $3 limit $4
       ) found)::int as frequency
     from unnest($1::int[]) q (term)`,
    [allVariants(terms), scope.spaceId, scope.organisationId, maximumChosenChunks],
    options,
  )
  const known = counted.filter(({ frequency }) => frequency > 0).sort((left, right) => left.frequency - right.frequency)
  if (known.length === 0) return []
  const variants = allVariants(terms)
  const request = { terms: variants, choosing: choosingTerms(known), most: maximumChosenChunks }
  const hits = await loadCounts(queryable, scope, request, options)
  const counts = new Map(counted.map(({ term, frequency }) => [term, frequency]))
  const frequencies = variants.map((variant) => counts.get(variant) ?? 0)
  const context = { chunks: space.chunks, averageLength: space.averageTerms, terms, frequencies }
  return rankByBm25(hits, context).slice(0, limit)
}

/** The rarest terms, as many as together choose no more chunks than are ranked; always one. */
function choosingTerms(known: readonly { term: number; frequency: number }[]): number[] {
  let chosen = 0
  return known
    .filter(({ frequency }, index) => {
      chosen += frequency
      return index === 0 || chosen <= maximumChosenChunks
    })
    .map(({ term }) => term)
}

/** Counts the terms in the searchable chunks that hold one of `choosing`, by binary search in their sorted terms. */
async function loadCounts(
  queryable: Queryable,
  scope: Scope,
  request: { terms: readonly number[]; choosing: readonly number[]; most: number | null },
  options: QueryOptions,
): Promise<TermCounts[]> {
  const rows = await queryable.query<{ chunkId: string; length: number; counts: string }>(
    `select c.chunk_id as "chunkId", cardinality(c.terms) as length, array_to_string(array(
         select width_bucket(q.term, c.terms) - width_bucket(q.term - 1, c.terms) from unnest($1::int[]) q (term)
       ), ' ') as counts
     from chunk_terms c join indexed_documents d on d.document_id = c.document_id and d.searchable
     where c.terms && $2::int[] and c.space_id = $3 and c.organisation_id = $4 limit $5`,
    [[...request.terms], [...request.choosing], scope.spaceId, scope.organisationId, request.most],
    options,
  )
  return rows.map(({ chunkId, length, counts }) => ({ chunkId, length, counts: counts.split(' ').map(Number) }))
}
