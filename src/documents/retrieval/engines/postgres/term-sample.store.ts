import type { Queryable } from '../../../../platform/database/index.ts'
import { raceSignal, type SpaceId } from '../../../../platform/kernel/index.ts'
import type { SpaceScope } from '../../engine.ts'
import { sampledChunks } from '../exact-scan.store.ts'

/** In how many chunks of a sample of a Space a term occurs; terms of one chunk, or of none, are left out. */
export type TermSample = ReadonlyMap<number, number>

/** Most terms of a sample, the most frequent ones. */
const maximumTerms = 50_000
/** Samples that are kept, of the Spaces that were searched last: at most about 3 MB each, usually a tenth. */
const maximumSamples = 20
/** How rare a word is changes slowly: nothing is wrong with an old sample, only the choice among the least important terms. */
const keptForMs = 600_000
/** Longest count; it does not end with the search that began it, because others wait for it as well. */
const timeoutMs = 15_000

/**
 * Samples of large Spaces, kept for ten minutes. Counting takes 60 to 100 ms of processor time in a Space of any size, more than all other
 * statements of a search together, and a fifth question of a conversation needs it each time.
 */
export function createTermSamples(nowMs: () => number = () => performance.now()) {
  // Least recently used first.
  const samples = new Map<SpaceId, { sample: Promise<TermSample>; countedMs: number }>()

  function count(queryable: Queryable, scope: SpaceScope): Promise<TermSample> {
    const sample = countTerms(queryable, scope)
    sample.catch(() => {
      if (samples.get(scope.spaceId)?.sample === sample) samples.delete(scope.spaceId)
    })
    samples.set(scope.spaceId, { sample, countedMs: nowMs() })
    for (const spaceId of samples.keys()) {
      if (samples.size <= maximumSamples) break
      samples.delete(spaceId)
    }
    return sample
  }

  return {
    load(queryable: Queryable, scope: SpaceScope, signal: AbortSignal | undefined): Promise<TermSample> {
      const kept = samples.get(scope.spaceId)
      if (!kept || nowMs() - kept.countedMs > keptForMs) return raceSignal(count(queryable, scope), signal)
      samples.delete(scope.spaceId)
      samples.set(scope.spaceId, kept)
      return raceSignal(kept.sample, signal)
    },
  }
}

export type TermSamples = ReturnType<typeof createTermSamples>

async function countTerms(queryable: Queryable, { spaceId, organisationId }: SpaceScope): Promise<TermSample> {
  // As bytes: arrays of tens of thousands of numbers are slow to parse.
  const [row] = await queryable.query<{ terms: Uint8Array | null; frequencies: Uint8Array | null }>(
    `select string_agg(int4send(term), ''::bytea order by term) as terms,
       string_agg(int4send(frequency), ''::bytea order by term) as frequencies
     from (
       select t.term, count(*)::int as frequency
       from (
         select c.terms from chunk_terms c join indexed_documents d on d.document_id = c.document_id and d.searchable
         where c.space_id = $1 and c.organisation_id = $2 limit ${sampledChunks}
       ) c, lateral (select distinct unnest(c.terms) as term) t
       group by 1 having count(*) > 1 order by 2 desc limit ${maximumTerms}
     ) counted`,
    [spaceId, organisationId],
    { timeoutMs },
  )
  const terms = toIntegers(row?.terms ?? null)
  const frequencies = toIntegers(row?.frequencies ?? null)
  return new Map(terms.map((term, index) => [term, frequencies[index]!]))
}

function toIntegers(bytes: Uint8Array | null): number[] {
  if (!bytes) return []
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: bytes.byteLength / 4 }, (_, index) => view.getInt32(index * 4))
}
