import { createHash } from 'node:crypto'
import type { DocumentSelection } from '../../contract/document-progress.ts'
import type { Database, Queryable } from '../../platform/database/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import { createUuid, type OrganisationId, sharedOwner } from '../../platform/kernel/index.ts'
import type { ChangeAuthor } from './change-author.ts'
import { enqueueEntry } from './change-log.store.ts'
import { filterConditions, parameterList } from './document-list.store.ts'
import {
  type DocumentOperation,
  documentOperationJob,
  type DocumentWork,
  type NewDocumentOperation,
  type OperationPlace,
} from './document-operations.ts'
import { parseMetadataChange, writeMetadataChange } from './metadata-change.ts'
import { changesChannel } from './progress.store.ts'
import type { RemovedRow, RemoveRows } from './remove-rows.ts'
import { deleteRows, publicId } from './replacement.store.ts'
import { changeMetadataOf } from './metadata-batch.store.ts'
import { enqueueProcessing, type ProcessedRow, processingKey } from './processing-job.ts'

/** Documents of one transaction: a removal of 50 takes about 0.1 s, and other writers and a stop wait no longer than that. */
const batchDocuments = 50
/** Most ids of a selection in the admin log. */
const maximumLoggedIds = 100
/** Most unfinished operations that lists show. */
const maximumShown = 20

interface OperationRow {
  id: string
  organisationId: OrganisationId
  spaceId: string
  kind: DocumentWork['kind']
  selection: DocumentSelection
  /** What writeMetadataChange returned; null for other kinds. */
  metadataChange: string | null
}

interface OperationsDependencies {
  database: Database
  jobs: JobQueue
  removeRows: RemoveRows
}

const operationColumns = `id, kind, total, done, skipped, requested_at as "requestedAt", finished_at as "finishedAt",
    case when finished_at is null then 'running' when ended_by = 'stop' then 'stopped' when ended_by = 'failure' then 'failed'
      else 'finished' end as state`

/** SQL of retries, and of work on many documents. */
export function createOperationsStore(dependencies: OperationsDependencies) {
  const { database } = dependencies
  return {
    retry(organisationId: OrganisationId, id: string, author?: ChangeAuthor): Promise<boolean> {
      return database.for(organisationId).transaction(async (transaction) => {
        const [retried] = await retryDocuments(transaction, dependencies.jobs, organisationId, [id])
        if (retried) {
          const subject = { subjectType: 'document', subjectId: id, organisationId } as const
          const states = { before: { failure: retried.failure }, after: { status: 'processing' } }
          await enqueueEntry(dependencies.jobs, transaction, author, {
            action: 'document.retried',
            ...subject,
            ...states,
          })
        }
        return retried !== undefined
      })
    },

    startOperation(operation: NewDocumentOperation): Promise<DocumentOperation> {
      return database
        .for(operation.organisationId)
        .transaction((transaction) => startOperation(transaction, dependencies.jobs, operation))
    },

    runBatch(owner: string, operationId: string): Promise<boolean> {
      return database.for(owner).transaction((transaction) => runBatch(transaction, dependencies, operationId), {
        background: true,
      })
    },

    async failOperation(owner: string, operationId: string): Promise<void> {
      await database.for(owner).transaction(async (transaction) => {
        const [ended] = await transaction.query<{ spaceId: string }>(
          `update document_operations set finished_at = now(), ended_by = 'failure' where id = $1 and finished_at is null
           returning space_id as "spaceId"`,
          [operationId],
        )
        if (ended) await notifySpace(transaction, ended.spaceId)
      })
    },

    stopOperation(place: OperationPlace, author?: ChangeAuthor): Promise<boolean> {
      return database
        .for(place.organisationId)
        .transaction((transaction) => stopOperation(transaction, dependencies.jobs, place, author))
    },

    async loadOperation({ organisationId, spaceId, operationId }: OperationPlace) {
      const [operation] = await database
        .for(organisationId)
        .query<DocumentOperation>(
          `select ${operationColumns} from document_operations where id = $1 and organisation_id = $2 and space_id = $3`,
          [operationId, organisationId, spaceId],
        )
      return operation
    },

    loadOperations(organisationId: string, spaceId: string): Promise<DocumentOperation[]> {
      return database.for(organisationId).query<DocumentOperation>(
        `select ${operationColumns} from document_operations
         where organisation_id = $1 and space_id = $2 and finished_at is null
         order by requested_at, id limit ${maximumShown}`,
        [organisationId, spaceId],
      )
    },

    pruneOperations(): Promise<number> {
      return database
        .for(sharedOwner)
        .execute(`delete from document_operations where finished_at < now() - interval '1 day'`)
    },
  }
}

async function startOperation(
  transaction: Queryable,
  jobs: JobQueue,
  { organisationId, spaceId, work, selection, author }: NewDocumentOperation,
): Promise<DocumentOperation> {
  const { kind } = work
  const parameters = parameterList(organisationId, spaceId)
  const [counted] = await transaction.query<{ total: number; now: Date }>(
    `select count(*)::int as total, now() as now from documents d where ${selectionConditions(kind, selection, parameters)}`,
    parameters.values,
  )
  const { total, now } = counted!
  const id = createUuid()
  const finished = {
    id,
    kind,
    state: 'finished',
    total,
    done: total,
    skipped: 0,
    requestedAt: now,
    finishedAt: now,
  } as const
  if (total === 0) return finished
  const text = JSON.stringify(selection)
  const change = work.kind === 'metadata' ? writeMetadataChange(work.change) : null
  const fingerprint = createHash('sha256')
    .update(`${kind} ${text}${change ?? ''}`)
    .digest()
  const inserted = await transaction.execute(
    `insert into document_operations (id, organisation_id, space_id, kind, selection, metadata_change, fingerprint, total)
     values ($1, $2, $3, $4, $5::jsonb, $6::json, $7, $8)
     on conflict (space_id, fingerprint) where finished_at is null do nothing`,
    [id, organisationId, spaceId, kind, text, change, fingerprint, total],
  )
  if (inserted > 0) {
    const key = `${documentOperationJob}:${id}`
    const fairnessKeys = { organisationId, spaceId }
    await jobs.enqueue(transaction, { kind: documentOperationJob, key, payload: { operationId: id }, fairnessKeys })
    await notifySpace(transaction, spaceId)
    await enqueueEntry(jobs, transaction, author, {
      action: actions[kind],
      subjectType: 'space',
      subjectId: spaceId,
      organisationId,
      before: null,
      after: { operationId: id, documents: total, ...loggedSelection(selection), ...loggedChange(work) },
    })
  }
  const [operation] = await transaction.query<DocumentOperation>(
    `select ${operationColumns} from document_operations where space_id = $1 and fingerprint = $2 and finished_at is null`,
    [spaceId, fingerprint],
  )
  // The first of two requests may have finished between the two statements.
  return operation ?? finished
}

const actions = { delete: 'documents.removed', retry: 'documents.retried', metadata: 'documents.updated' } as const

function loggedSelection(selection: DocumentSelection) {
  if ('ids' in selection) return { ids: selection.ids.slice(0, maximumLoggedIds) }
  return { filter: selection.filter, except: selection.except?.slice(0, maximumLoggedIds) ?? [] }
}

function loggedChange(work: DocumentWork): Record<string, unknown> {
  return work.kind === 'metadata' ? (JSON.parse(writeMetadataChange(work.change)) as Record<string, unknown>) : {}
}

/** Conditions on the current rows `d` of the Space $2 of the organisation $1. */
function selectionConditions(
  kind: DocumentWork['kind'],
  selection: DocumentSelection,
  parameters: ReturnType<typeof parameterList>,
): string {
  const conditions = [filterConditions('filter' in selection ? selection.filter : {}, parameters)]
  if ('ids' in selection) conditions.push(`${publicId('d')} = any(${parameters.add(selection.ids)}::uuid[])`)
  else if (selection.except?.length) {
    conditions.push(`${publicId('d')} <> all(${parameters.add(selection.except)}::uuid[])`)
  }
  if (kind === 'retry') conditions.push(`d.status = 'failed'`)
  return conditions.join(' and ')
}

async function stopOperation(
  transaction: Queryable,
  jobs: JobQueue,
  { organisationId, spaceId, operationId }: OperationPlace,
  author: ChangeAuthor | undefined,
): Promise<boolean> {
  // Waits for the lock of a running batch. The next batch then finds that the operation has ended.
  const [stopped] = await transaction.query<{ kind: string; done: number; total: number }>(
    `update document_operations set finished_at = now(), ended_by = 'stop'
     where id = $1 and organisation_id = $2 and space_id = $3 and finished_at is null returning kind, done, total`,
    [operationId, organisationId, spaceId],
  )
  if (!stopped) return false
  await notifySpace(transaction, spaceId)
  const { kind, done, total } = stopped
  const subject = { subjectType: 'space', subjectId: spaceId, organisationId } as const
  const after = { operationId, kind, done, documents: total }
  await enqueueEntry(jobs, transaction, author, { action: 'documents.stopped', ...subject, before: null, after })
  return true
}

async function runBatch(
  transaction: Queryable,
  dependencies: OperationsDependencies,
  operationId: string,
): Promise<boolean> {
  // The lock keeps a second worker, which may have taken the job after a lost lease, from the same documents.
  const [operation] = await transaction.query<OperationRow>(
    `select id, organisation_id as "organisationId", space_id as "spaceId", kind, selection,
       metadata_change::text as "metadataChange"
     from document_operations where id = $1 and finished_at is null for update`,
    [operationId],
  )
  if (!operation) return false
  const documents = await selectBatch(transaction, operation)
  const ids = documents.map(({ id }) => id)
  const { skipped } = await handleDocuments(transaction, dependencies, operation, ids)
  const isLast = ids.length < batchDocuments
  const last = documents.at(-1)
  await transaction.execute(
    `update document_operations set done = done + $2, skipped = skipped + $6, finished_at = case when $3 then now() end,
       position_time = coalesce($4::text::timestamptz, position_time), position_id = coalesce($5, position_id)
     where id = $1`,
    [operation.id, ids.length, isLast, last?.time ?? null, last?.id ?? null, skipped],
  )
  await notifySpace(transaction, operation.spaceId)
  return !isLast
}

/**
 * The next documents in the order of their creation. Only those that existed when the operation was requested and, for a retry, have not
 * changed since: each one is retried at most once.
 */
function selectBatch(transaction: Queryable, { id, kind, selection, organisationId, spaceId }: OperationRow) {
  const parameters = parameterList(organisationId, spaceId)
  const conditions = selectionConditions(kind, selection, parameters)
  const operation = `(select requested_at from document_operations where id = ${parameters.add(id)})`
  const position = (column: string) => `(select ${column} from document_operations where id = ${parameters.add(id)})`
  return transaction.query<{ id: string; time: string }>(
    `select d.document_id as id, d.created_at::text as time from documents d
     where ${conditions} and d.created_at <= ${operation} ${kind === 'retry' ? `and d.updated_at <= ${operation}` : ''}
       and (d.created_at, d.document_id) > (coalesce(${position('position_time')}, '-infinity'),
         coalesce(${position('position_id')}, '00000000-0000-0000-0000-000000000000'))
     order by d.created_at, d.document_id limit ${batchDocuments}`,
    parameters.values,
  )
}

/** Event streams of the Space then read its operations. */
async function notifySpace(transaction: Queryable, spaceId: string): Promise<void> {
  await transaction.query('select pg_notify($1, $2)', [changesChannel, spaceId])
}

interface HandledOperation {
  organisationId: OrganisationId
  kind: DocumentWork['kind']
  /** What writeMetadataChange returned; null for other kinds. */
  metadataChange: string | null
}

/** Does the work of an operation with some documents. `skipped`: documents that could not be changed. */
async function handleDocuments(
  transaction: Queryable,
  { jobs, removeRows }: { jobs: JobQueue; removeRows: RemoveRows },
  { kind, organisationId, metadataChange }: HandledOperation,
  ids: readonly string[],
): Promise<{ skipped: number }> {
  switch (kind) {
    case 'delete':
      await removeDocuments(transaction, removeRows, ids)
      return { skipped: 0 }
    case 'retry':
      await retryDocuments(transaction, jobs, organisationId, ids)
      return { skipped: 0 }
    case 'metadata':
      return changeMetadataOf(transaction, ids, parseMetadataChange(metadataChange ?? '{}'))
  }
}

/** With their replacements in progress. */
async function removeDocuments(transaction: Queryable, removeRows: RemoveRows, ids: readonly string[]): Promise<void> {
  const rows = await transaction.query<RemovedRow>(
    `select id, blob_key as "blobKey" from documents d where ${publicId('d')} = any($1::uuid[]) order by id for update`,
    [[...ids]],
  )
  await deleteRows(transaction, removeRows, rows)
}

/** Puts failed documents back into the queue; returns their former failure codes. The stored files of failed documents are kept. */
async function retryDocuments(
  transaction: Queryable,
  jobs: JobQueue,
  organisationId: OrganisationId,
  ids: readonly string[],
): Promise<{ failure: string | null }[]> {
  const rows = await transaction.query<ProcessedRow & { failure: string | null }>(
    `select error_code as failure, id, organisation_id as "organisationId", space_id as "spaceId", format, size_bytes as "sizeBytes" from documents d
     where ${publicId('d')} = any($2::uuid[]) and organisation_id = $1 and is_current and status = 'failed'
     order by id for update`,
    [organisationId, [...ids]],
  )
  await transaction.execute(
    `update documents set status = 'processing', stage = 'queued', error_code = null, error_message = null, warnings = null,
       parts_done = null, parts_total = null, chunk_count = null, page_count = null, updated_at = now()
     where id = any($1::uuid[])`,
    [rows.map(({ id }) => id)],
  )
  for (const row of rows) {
    // The job that failed may still be about to end, and a second one with its key would be dropped.
    await jobs.cancel(transaction, processingKey(row.id))
    await enqueueProcessing(jobs, transaction, row)
  }
  return rows
}
