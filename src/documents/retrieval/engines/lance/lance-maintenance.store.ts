import { setTimeout as delay } from 'node:timers/promises'
import type { Database, OwnedDatabase } from '../../../../platform/database/index.ts'
import type { Log, OrganisationId, SpaceId } from '../../../../platform/kernel/index.ts'
import { type EmbeddingVersion, loadEmbeddingVersions } from '../../corpus/embedding-versions.store.ts'
import type { ErasedDocuments, MaintenanceOptions, MaintenanceReport } from '../../engine.ts'
import type { SegmentSizes } from '../postgres/segment-plan.ts'
import { bm25IndexName } from '../postgres/space-indexes.store.ts'
import { mergeSegments, repeatForSpaces, retireOtherStores } from '../postgres/vector-maintenance.store.ts'
import {
  buildSegment,
  dropRetiredSegments,
  loadSegmentDocuments,
  retiredForSeconds,
  retireSegments,
  type SegmentScope,
  type SegmentStore,
} from '../postgres/vector-segments.store.ts'
import { dropSearchIndex, loadSearchIndexes } from '../search-indexes.store.ts'
import { tablePrefix } from './lance-segments.store.ts'
import type { LanceTables } from './lance-tables.ts'

interface TableParts {
  database: OwnedDatabase
  tables: LanceTables
  store: SegmentStore
  log: Log
}

/**
 * A table is made again without the documents that were deleted since when they are this share of it, or when it is older than this:
 * then what was deleted is in no file of the storage any more.
 */
const deletedShare = 0.1
const deletedAfterSeconds = 20 * 60 * 60
/** Longest wait of an erasure for builds; then it is repeated. */
const buildsEndMs = 30_000
const buildPollMs = 100
/** A build reports after each part and before its indexes. One that has not for so long is given up by an erasure: its process may be dead. */
const silentForSeconds = 15 * 60

/** Merges small tables, makes those again that contain deleted documents, and removes what is no longer used. */
export async function maintainTables(
  { database, tables, store, log }: TableParts,
  sizes: SegmentSizes,
  { signal, dropAfterSeconds = retiredForSeconds }: MaintenanceOptions,
): Promise<MaintenanceReport> {
  try {
    await retireMissing(database, tables)
    const report = await mergeSegments(database, store, sizes, { signal, log })
    await repeatForSpaces(database, store, sizes, signal, async (scope, { segments }) => {
      for (const { id, rows, chunks } of segments) {
        const deleted = rows - chunks
        if (deleted <= 0 || (deleted < rows * deletedShare && !(await isOlder(database, id)))) continue
        report.built.push(...(await rebuild({ database, store, log }, scope, id, signal)))
      }
      return false
    })
    const waiting = await retireOtherStores(database, store, sizes)
    return { ...report, dropped: [...report.dropped, ...(await dropIndexes(database, waiting))] }
  } finally {
    // Also where a table cannot be built: what other Spaces have deleted leaves the storage.
    await dropRetiredSegments(database, store, dropAfterSeconds)
    await dropLeftOver(database, tables)
  }
}

async function rebuild(
  { database, store, log }: Omit<TableParts, 'tables'>,
  scope: SegmentScope,
  id: number,
  signal?: AbortSignal,
): Promise<string[]> {
  const documents = await loadSegmentDocuments(database, scope, [id])
  const name = await buildSegment(database, store, { scope, documents, replaces: [id], log, signal })
  return name === null ? [] : [name]
}

async function isOlder(database: OwnedDatabase, id: number): Promise<boolean> {
  const [row] = await database.query<{ isOlder: boolean }>(
    `select changed_at < now() - make_interval(secs => $2) as "isOlder" from vector_segments where id = $1`,
    [id, deletedAfterSeconds],
  )
  return row?.isOlder === true
}

/**
 * After the loss of the storage, or with an older copy of it, documents are searched in the corpus until they have a table again. Tables of
 * earlier versions of Portico have no note of their chunks.
 */
async function retireMissing(database: OwnedDatabase, tables: LanceTables): Promise<void> {
  // Before the names are listed: a table that becomes ready meanwhile is not in the list.
  const ready = await database.query<{ id: number; name: string; isNoted: boolean }>(
    `select id, table_name as name, chunk_ids is not null as "isNoted" from vector_segments where state = 'ready' and storage = $1`,
    [tables.address],
  )
  const names = new Set(await tables.listNames())
  const missing = ready.filter(({ name, isNoted }) => !isNoted || !names.has(name)).map(({ id }) => id)
  if (missing.length > 0) await retireSegments(database, missing)
}

/**
 * Tables that the database does not know: it was set back to an earlier state. A new table is noted before it is made, and the note is
 * removed after it.
 */
async function dropLeftOver(database: OwnedDatabase, tables: LanceTables): Promise<void> {
  const names = (await tables.listNames()).filter((name) => name.startsWith(tablePrefix))
  const known = await database.query<{ name: string }>(
    'select table_name as name from vector_segments where table_name = any($1::text[])',
    [names],
  )
  const kept = new Set(known.map(({ name }) => name))
  for (const name of names) if (!kept.has(name)) await tables.drop(name)
}

/** The database's own indexes for searches, of the other engine, except those of Spaces that wait for tables. */
async function dropIndexes(database: OwnedDatabase, waiting: ReadonlySet<SpaceId>): Promise<string[]> {
  const kept = new Set([...waiting].map(bm25IndexName))
  const dropped = (await loadSearchIndexes(database))
    .filter(({ name, building }) => !building && !kept.has(name))
    .map(({ name }) => name)
  for (const name of dropped) await dropSearchIndex(database, name)
  return dropped
}

interface OwnTable {
  id: number
  tableName: string
  state: 'building' | 'ready' | 'retired'
  spaceId: SpaceId
  versionId: number
}

function loadTables(database: Database, tables: LanceTables, organisationId: string): Promise<OwnTable[]> {
  return database.for(organisationId).query<OwnTable>(
    `select id, table_name as "tableName", state, space_id as "spaceId", version_id as "versionId" from vector_segments
     where organisation_id = $1 and storage = $2 order by id`,
    [organisationId, tables.address],
    { background: true },
  )
}

/** Rows of the documents in tables of the organisation, in every state. */
export async function countInTables(
  { database, tables }: { database: Database; tables: LanceTables },
  { organisationId, documentIds }: ErasedDocuments,
): Promise<number> {
  const existing = new Set(await tables.listNames())
  let count = 0
  for (const { tableName } of await loadTables(database, tables, organisationId))
    if (existing.has(tableName)) count += await tables.countRows(tableName, documentIds)
  return count
}

/**
 * Makes the tables that contain the documents again without them, and removes their files. Waits for the builds that run: they may have read the
 * documents before they were removed; those that begin later cannot. Rejects where one has not ended in time.
 */
export async function removeFromTables(
  { database, tables, store, log }: Omit<TableParts, 'database'> & { database: Database },
  { organisationId, documentIds }: ErasedDocuments,
): Promise<void> {
  const own = database.for(organisationId)
  await waitForBuilds(own, organisationId, tables.address)
  const versions = new Map((await loadEmbeddingVersions(own)).map((version) => [version.id, version]))
  const noted = await loadTables(database, tables, organisationId)
  const existing = new Set(await tables.listNames())
  for (const { id, tableName, state, spaceId, versionId } of noted) {
    if (state === 'building') continue
    const isInUse = state === 'ready' && existing.has(tableName)
    if (isInUse && (await tables.countRows(tableName, documentIds)) === 0) continue
    const version: EmbeddingVersion | undefined = versions.get(versionId)
    if (isInUse && version) {
      const scope = { organisationId: organisationId as OrganisationId, spaceId, version }
      await rebuild({ database: own, store, log }, scope, id)
    }
    await retireSegments(own, [id])
    await tables.drop(tableName)
  }
}

/** Until the builds of the organisation that run now have ended. Silent ones are retired, which ends them at their next report. */
async function waitForBuilds(own: OwnedDatabase, organisationId: string, address: string): Promise<void> {
  const background = { background: true }
  const running = await own.query<{ id: number }>(
    `update vector_segments set
       state = case when changed_at < now() - make_interval(secs => $3) then 'retired' else state end
     where organisation_id = $1 and storage = $2 and state = 'building' returning id`,
    [organisationId, address, silentForSeconds],
    background,
  )
  const untilMs = performance.now() + buildsEndMs
  for (;;) {
    const left = await own.query(
      `select from vector_segments where id = any($1::int[]) and state = 'building'`,
      [running.map(({ id }) => id)],
      background,
    )
    if (left.length === 0) return
    if (performance.now() >= untilMs) throw new Error('a table is still being built, maybe with erased documents')
    await delay(buildPollMs)
  }
}
