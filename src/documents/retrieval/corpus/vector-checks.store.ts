import type { Database, OwnedDatabase } from '../../../platform/database/index.ts'
import { createUuid, type OrganisationId, type SpaceId } from '../../../platform/kernel/index.ts'
import type { SpaceScope } from '../engine.ts'
import { loadPassages, type StoredPassage } from './passages.store.ts'

/** How much the vectors of an embedding version help the search of a Space. */
export interface VectorCheck {
  /** Share of the vectors in the fused score, 0..1; null: it could not be measured. */
  weight: number | null
  /** Questions with a known passage. */
  questions: number
  /** Mean reciprocal rank of that passage, 0..1, by words alone; null: not measured. */
  lexicalRank: number | null
  /** The same with the weight. */
  fusedRank: number | null
}

/** A Space that has no check, or that has changed since. */
export interface DueSpace {
  organisationId: OrganisationId
  spaceId: SpaceId
  chunks: number
}

/** A passage from which a question can be made. */
export interface SampledChunk {
  chunkId: string
  text: string
  headingPath: string[]
}

/** Below it, a Space has too few passages to choose a weight by. */
export const minimumCheckedChunks = 32
/** Spaces of one statement; a job asks again. */
const dueSpaces = 20

/**
 * Spaces whose check is missing, was made for less than half or more than twice of the present chunks, or failed an hour ago. Those without a
 * check come first.
 */
export function loadDueSpaces(database: OwnedDatabase, versionId: number): Promise<DueSpace[]> {
  return database.query<DueSpace>(
    `with spaces as (
       select organisation_id, space_id, sum(chunk_count)::int as chunks from indexed_documents where searchable
       group by organisation_id, space_id having sum(chunk_count) >= ${minimumCheckedChunks}
     )
     select s.organisation_id as "organisationId", s.space_id as "spaceId", s.chunks
     from spaces s left join vector_checks v on v.space_id = s.space_id and v.version_id = $1
     where v.space_id is null or s.chunks > 2 * v.chunks or 2 * s.chunks < v.chunks
       or (v.weight is null and v.checked_at < now() - interval '1 hour')
     order by v.checked_at nulls first limit ${dueSpaces}`,
    [versionId],
    { background: true },
  )
}

/**
 * Searchable chunks, spread over the documents of a Space and over each of them. Always the same ones of the same documents with the same seed;
 * `offset`, 0..1, is where in its stretch of a document a chunk is.
 */
export function sampleChunks(
  database: Database,
  scope: SpaceScope,
  limit: number,
  { seed, offset } = { seed: '', offset: 0.5 },
): Promise<SampledChunk[]> {
  return database.for(scope.organisationId).query<SampledChunk>(
    `with picked as (
       select document_id, chunk_count from indexed_documents
       where organisation_id = $1 and space_id = $2 and searchable and chunk_count > 0
       order by md5($4::text || document_id::text) limit $3
     ), places as (
       select distinct document_id, floor((n + $5::float8) * chunk_count / per)::int as place
       from picked, (select ceil($3::float8 / count(*))::int as per from picked) share, generate_series(0, per - 1) n
     )
     select c.id as "chunkId", c.content as text, c.heading_path as "headingPath"
     from places p join chunks c on c.document_id = p.document_id and c.chunk_index = p.place
     where c.organisation_id = $1 and c.space_id = $2
     order by md5($4::text || c.document_id::text), c.chunk_index limit $3`,
    [scope.organisationId, scope.spaceId, limit, seed, offset],
  )
}

/** Such chunks, others each time. In no order. */
export async function samplePassages(
  database: Database,
  scope: SpaceScope,
  limit: number,
  signal: AbortSignal,
): Promise<StoredPassage[]> {
  const chunks = await sampleChunks(database, scope, limit, { seed: createUuid(), offset: Math.random() })
  const ids = chunks.map(({ chunkId }) => chunkId)
  return loadPassages(database, { ...scope, filter: null }, ids, signal)
}

export async function loadVectorCheck(
  database: Database,
  { organisationId, spaceId }: SpaceScope,
  versionId: number,
  signal: AbortSignal,
): Promise<VectorCheck | null> {
  const [row] = await database.for(organisationId).query<VectorCheck>(
    `select weight, questions, lexical_rank as "lexicalRank", fused_rank as "fusedRank"
     from vector_checks where organisation_id = $1 and space_id = $2 and version_id = $3`,
    [organisationId, spaceId, versionId],
    { signal },
  )
  return row ?? null
}

/** False: the embedding version was dropped meanwhile, and nothing was stored. */
export async function saveVectorCheck(
  database: Database,
  { organisationId, spaceId, chunks }: DueSpace,
  versionId: number,
  { weight, questions, lexicalRank, fusedRank }: VectorCheck,
): Promise<boolean> {
  const stored = await database.for(organisationId).execute(
    `insert into vector_checks (organisation_id, space_id, version_id, weight, chunks, questions, lexical_rank, fused_rank)
     select $1, $2, id, $4::float8, $5::int, $6::int, $7::float8, $8::float8 from embedding_generations where id = $3
     on conflict (space_id, version_id) do update set weight = excluded.weight, chunks = excluded.chunks,
       questions = excluded.questions, lexical_rank = excluded.lexical_rank, fused_rank = excluded.fused_rank,
       checked_at = clock_timestamp()`,
    [organisationId, spaceId, versionId, weight, chunks, questions, lexicalRank, fusedRank],
  )
  return stored > 0
}

/** Removes the checks of Spaces that have no searchable document any more. */
export async function deleteOldChecks(database: OwnedDatabase): Promise<void> {
  await database.execute(
    `delete from vector_checks v where not exists (
       select from indexed_documents i
       where i.organisation_id = v.organisation_id and i.space_id = v.space_id and i.searchable)`,
    [],
    { background: true },
  )
}
