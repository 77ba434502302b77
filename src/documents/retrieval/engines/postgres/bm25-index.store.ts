import type { QueryTerm } from '../../lexical/bm25.ts'
import { andMatching } from '../../corpus/filter-condition.store.ts'
import type { SqlValue } from '../../../../platform/database/index.ts'
import { vectorParameter, vectorTable } from '../../corpus/embedding-versions.store.ts'
import type { LexicalChunk, VectorRequest } from '../candidates.ts'
import type { ScanContext } from '../exact-scan.store.ts'
import { spareShare } from './filtered-plan.ts'
import { bm25IndexName, spaceLiteral } from './space-indexes.store.ts'

/**
 * The extension counts repeats of a term in a query; repeats express weights. A term below a hundredth of the highest weight is
 * left out. Forty repeats of 64 terms took 7 ms more than one.
 */
const maximumRepeats = 50

/** How many of the best are read until enough of them can be found, in multiples of those. */
const steps = [1, 2]
/** With a filter: in multiples of what would be enough if the matching chunks were spread evenly. Then all of them are compared. */
const filteredSteps = [spareShare, 4 * spareShare]

/** Chunks by the Space's BM25 index. Null: too few of the best are searchable and match, or the planner did not use the index. */
export async function searchBm25Index(
  context: ScanContext,
  terms: readonly QueryTerm[],
  limit: number,
  compared?: ComparedVector,
): Promise<LexicalChunk[] | null> {
  // Usually all of them are searchable: only chunks that are being imported are not.
  const { scope, space } = context
  const share = scope.filter ? (space.allChunks ?? space.chunks) / Math.max(1, space.chunks) : 1
  for (const step of scope.filter ? filteredSteps : steps) {
    const inner = Math.ceil(limit * step * share)
    const best = await readBest(context, terms, inner, scope.filter ? undefined : compared)
    // The score is a by-product of the index scan; with any other plan it is 0 or the same for all rows.
    if (best.length > 1 && best.every((row) => row.score === best[0]!.score)) return null
    const found = best.filter((row) => row.searchable && row.score > 0)
    if (found.length >= limit || (best.length < inner && found.length > 0)) {
      return found
        .map(({ chunkId, score, similarity }) => ({ chunkId, score, similarity }))
        .sort((left, right) => right.score - left.score)
        .slice(0, limit)
    }
  }
  return null
}

type ComparedVector = Pick<VectorRequest, 'version' | 'vector'>

function readBest(
  { queryable, scope, options }: ScanContext,
  terms: readonly QueryTerm[],
  inner: number,
  compared: ComparedVector | undefined,
): Promise<(LexicalChunk & { searchable: boolean })[]> {
  const values: SqlValue[] = [scope.organisationId, repeatedByWeight(terms).join(' '), inner]
  if (compared) values.push(vectorParameter(compared.version, compared.vector))
  const matches = andMatching(scope, values)('d.document_id')
  const similarity = compared
    ? `(select 1 - (e.embedding <=> $4::${compared.version.storage}) from ${vectorTable(compared.version)} e
         where e.space_id = ${spaceLiteral(scope.spaceId)} and e.chunk_id = best.chunk_id)`
    : 'null::float8'
  // A subselect, not a CTE: inside a CTE the extension computes every score a second time, 0.13 ms a row.
  return queryable.query(
    `select best.chunk_id as "chunkId", best.score, (d.searchable ${matches}) as searchable, ${similarity} as similarity
     from (
       select chunk_id, document_id, -bm25_get_current_score() as score from chunk_terms
       where space_id = ${spaceLiteral(scope.spaceId)} and organisation_id = $1
       order by chunk_terms_text(terms) <@> to_bm25query($2, '${bm25IndexName(scope.spaceId)}') limit $3
     ) best join indexed_documents d on d.document_id = best.document_id`,
    values,
    options,
  )
}

function repeatedByWeight(terms: readonly QueryTerm[]): number[] {
  const weights = terms.map(({ weight }) => weight)
  const once = Math.max(Math.min(1, ...weights), Math.max(...weights) / maximumRepeats)
  return terms.flatMap(({ variants, weight }) => {
    const repeats = Math.round(weight / once)
    return variants.flatMap((variant) => Array.from({ length: repeats }, () => variant))
  })
}
