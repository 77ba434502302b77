import { countRows, type Database, type OwnedDatabase } from '../../../../platform/database/index.ts'
import type { Log, OrganisationId, SpaceId } from '../../../../platform/kernel/index.ts'
import { loadEmbeddingVersions } from '../../corpus/embedding-versions.store.ts'
import type { ErasedDocuments, MaintenanceOptions, MaintenanceReport } from '../../engine.ts'
import { dropSearchIndex, loadSearchIndexes } from '../search-indexes.store.ts'
import { planMerge, planNewVectors, type SegmentSizes, sizesFrom, type VectorUsage } from './segment-plan.ts'
import { vectorIndexName } from './space-indexes.store.ts'
import {
  buildSegment,
  dropRetiredSegments,
  eraseDeleted,
  loadOtherSegments,
  loadSegmentDocuments,
  loadTailDocuments,
  loadUsage,
  retiredForSeconds,
  retireLeftSegments,
  retireSegments,
  type SegmentScope,
  type SegmentStore,
  segmentTable,
  tableSegments,
} from './vector-segments.store.ts'

/** Chunks from which a Space gets indexes of its vectors; below, every vector is compared (20,000 × 384: about 35 ms). */
export const defaultVectorIndexFromChunks = 20_000

/** Does something for one Space in one embedding version. False: nothing was to do. */
type Step = (scope: SegmentScope, usage: VectorUsage) => Promise<boolean>

/**
 * Gives documents that were published since the last call a segment, until few are left. Takes seconds; call it often. Safe when two
 * instances call it at once.
 */
export async function indexNewSegments(
  database: OwnedDatabase,
  store: SegmentStore,
  sizes: SegmentSizes,
  { signal, log }: SegmentWork,
): Promise<MaintenanceReport> {
  const built: string[] = []
  await repeatForSpaces(database, store, sizes, signal, async (scope, usage) => {
    const action = planNewVectors(usage, sizes)
    if (action?.kind !== 'build') return false
    const ready = usage.segments.map(({ id }) => id)
    const documents = await loadTailDocuments(database, scope, ready, action.maximumChunks)
    if (documents.length === 0) return false
    const name = await buildSegment(database, store, { scope, documents, replaces: [], log, signal })
    if (name !== null) built.push(name)
    return name !== null
  })
  return { built, dropped: [] }
}

/** Merges small segments, and retires those that are empty, or of a Space that has shrunk. */
export async function mergeSegments(
  database: OwnedDatabase,
  store: SegmentStore,
  sizes: SegmentSizes,
  { signal, log }: SegmentWork,
): Promise<MaintenanceReport> {
  const report: MaintenanceReport = { built: [], dropped: [] }
  await retireLeftSegments(database, await loadEmbeddingVersions(database))
  await repeatForSpaces(database, store, sizes, signal, async (scope, usage) => {
    const action = planMerge(usage, sizes)
    if (!action || action.kind === 'build') return false
    if (action.kind === 'retire') {
      await retireSegments(database, action.segments)
      report.dropped.push(...action.segments.map(segmentTable))
      return true
    }
    const documents = await loadSegmentDocuments(database, scope, action.segments)
    const name = await buildSegment(database, store, { scope, documents, replaces: action.segments, log, signal })
    if (name !== null) report.built.push(name)
    return name !== null
  })
  return report
}

/**
 * Retires what another store has of the Spaces that this one covers: until then searches can use it. Returns the Spaces that still have
 * `from` chunks without a segment here.
 */
export async function retireOtherStores(
  database: OwnedDatabase,
  { storage }: SegmentStore,
  { from }: SegmentSizes,
): Promise<ReadonlySet<SpaceId>> {
  const waiting = new Set<SpaceId>()
  const placeOf = (spaceId: SpaceId, versionId: number) => `${spaceId} ${versionId}`
  const others = Map.groupBy(await loadOtherSegments(database, storage), (segment) =>
    placeOf(segment.spaceId, segment.versionId),
  )
  if (others.size === 0) return waiting
  for (const scope of await loadScopes(database, from)) {
    const segments = others.get(placeOf(scope.spaceId, scope.version.id))
    if (!segments) continue
    const { tailChunks } = await loadUsage(database, scope, storage)
    if (tailChunks >= from) waiting.add(scope.spaceId)
    else
      await retireSegments(
        database,
        segments.map(({ id }) => id),
      )
  }
  return waiting
}

export interface SegmentWork {
  signal?: AbortSignal | undefined
  log: Log
}

export function indexNewVectors(
  database: OwnedDatabase,
  { vectorIndexFromChunks: from = defaultVectorIndexFromChunks, signal }: MaintenanceOptions,
  log: Log,
): Promise<MaintenanceReport> {
  return indexNewSegments(database, tableSegments, sizesFrom(from), { signal, log })
}

/** Merges small segments, and removes what no search needs: deleted vectors, segments, indexes of earlier versions of Portico. */
export async function maintainVectors(
  database: OwnedDatabase,
  options: MaintenanceOptions,
  log: Log,
): Promise<MaintenanceReport> {
  const { vectorIndexFromChunks: from = defaultVectorIndexFromChunks, signal } = options
  const sizes = sizesFrom(from)
  const report = await mergeSegments(database, tableSegments, sizes, { signal, log })
  await repeatForSpaces(database, tableSegments, sizes, signal, async (_scope, { segments }) => {
    for (const { id, rows, chunks } of segments) if (rows > chunks) await eraseDeleted(database, id)
    return false
  })
  await retireOtherStores(database, tableSegments, sizes)
  await dropRetiredSegments(database, tableSegments, options.dropAfterSeconds ?? retiredForSeconds)
  report.dropped.push(...(await dropFormerIndexes(database, sizes)))
  return report
}

/** Calls `step` for each large Space in each embedding version, one after the other, until it finds nothing to do anywhere. */
export async function repeatForSpaces(
  database: OwnedDatabase,
  store: SegmentStore,
  { from }: SegmentSizes,
  signal: AbortSignal | undefined,
  step: Step,
): Promise<void> {
  let pending = await loadScopes(database, from)
  while (pending.length > 0) {
    const again: SegmentScope[] = []
    for (const scope of pending) {
      signal?.throwIfAborted()
      if (await step(scope, await loadUsage(database, scope, store.storage))) again.push(scope)
    }
    pending = again
  }
}

/** Spaces that are large enough for segments, and those that have some. */
async function loadScopes(database: OwnedDatabase, from: number): Promise<SegmentScope[]> {
  const versions = await loadEmbeddingVersions(database)
  const spaces = await database.query<{ organisationId: OrganisationId; spaceId: SpaceId }>(
    `select organisation_id as "organisationId", space_id as "spaceId" from indexed_documents
     where searchable group by 1, 2 having sum(chunk_count) >= $1
     union select organisation_id, space_id from vector_segments where state = 'ready'`,
    [from],
    { background: true },
  )
  return spaces.flatMap((space) => versions.map((version) => ({ ...space, version })))
}

/** Earlier versions of Portico had one HNSW index for each Space, which each insert updated. It is used until segments replace it. */
async function dropFormerIndexes(database: OwnedDatabase, { from }: SegmentSizes): Promise<string[]> {
  const former = (await loadSearchIndexes(database)).filter(({ kind, building }) => kind === 'vectors' && !building)
  if (former.length === 0) return []
  const needed = new Set<string>()
  for (const scope of await loadScopes(database, from)) {
    const { tailChunks } = await loadUsage(database, scope, null)
    if (tailChunks >= from) needed.add(vectorIndexName(scope.version.id, scope.spaceId))
  }
  const dropped = former.map(({ name }) => name).filter((name) => !needed.has(name))
  for (const name of dropped) await dropSearchIndex(database, name)
  return dropped
}

const background = { background: true, timeoutMs: 60_000 }

/** Vectors of the documents in the segments of the organisation, in every state. A segment has no index by document: all its rows are read. */
export async function countInSegments(database: Database, documents: ErasedDocuments): Promise<number> {
  const own = database.for(documents.organisationId)
  let count = 0
  for (const id of await loadSegments(database, documents)) {
    const ofDocuments = `${segmentTable(id)} where document_id = any($1::uuid[])`
    count += await countRows(own, ofDocuments, [[...documents.documentIds]], background)
  }
  return count
}

/**
 * Deletes them. The lock waits for the fill of a segment that is being built: it may have read the rows of the documents before they were
 * removed, and a fill that begins later cannot. It does not block searches.
 */
export async function removeFromSegments(database: Database, documents: ErasedDocuments): Promise<void> {
  for (const id of await loadSegments(database, documents)) {
    await database.for(documents.organisationId).transaction(async (transaction) => {
      await transaction.execute(`lock table ${segmentTable(id)} in share row exclusive mode`)
      const removed = await transaction.execute(`delete from ${segmentTable(id)} where document_id = any($1::uuid[])`, [
        [...documents.documentIds],
      ])
      await transaction.execute(
        `update vector_segments set chunk_count = chunk_count - $2 where id = $1 and state = 'ready'`,
        [id, removed],
      )
    }, background)
  }
}

async function loadSegments(database: Database, { organisationId }: ErasedDocuments): Promise<number[]> {
  const rows = await database
    .for(organisationId)
    .query<{ id: number }>(
      'select id from vector_segments where organisation_id = $1 and storage is null order by id',
      [organisationId],
      background,
    )
  return rows.map(({ id }) => id)
}
