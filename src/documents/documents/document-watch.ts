import { AppError, anySignal, type Clock, isAppError } from '../../platform/kernel/index.ts'
import type { DocumentCounts, DocumentProgressRow } from './document.ts'
import type { DocumentOperation } from './document-operations.ts'
import type { DocumentStore } from './documents.store.ts'

/** The events of a watched Space, in order: a snapshot, then changes; another snapshot if changes may have been missed. */
export type DocumentEvent =
  | { type: 'snapshot'; counts: DocumentCounts; items: DocumentProgressRow[] }
  | { type: 'document'; document: DocumentProgressRow }
  | { type: 'removed'; id: string }
  | { type: 'counts'; counts: DocumentCounts }
  | { type: 'operations'; operations: DocumentOperation[] }

export interface DocumentWatch {
  /** Ends when `signal` aborts or the service stops. Throws AppError `overloaded` if there are too many watchers. */
  watch(space: WatchedSpace, signal: AbortSignal): AsyncGenerator<DocumentEvent>
  close(): void
}

/** A snapshot has the newest documents. */
const snapshotDocuments = 100
/** Changes are collected for this time, so that an upload of thousands of files is sent in batches. */
const gatherMs = 250
/** Counts read an index entry of every document, so they follow changes at this distance. */
const countsEveryMs = 1_000
/** Most changes of one Space that are kept by id. Above it, a new snapshot is sent. */
const maximumChanged = 200
const maximumWatchers = 500
/** So that one organisation cannot use all of them. */
const maximumWatchersOfOrganisation = 100

interface WatchedSpace {
  organisationId: string
  spaceId: string
}

interface Watcher extends WatchedSpace {
  changed: Set<string>
  needsSnapshot: boolean
  /** Counts and operations may have changed. */
  needsCounts: boolean
  countedMs: number
  sentOperations: string
  wake: () => void
}

type ProgressSource = Pick<
  DocumentStore,
  'listenChanges' | 'loadList' | 'loadContents' | 'loadProgressOf' | 'loadOperations'
>

/** Follows the documents of Spaces as they change on any instance. */
export function createDocumentWatch({ documents, clock }: { documents: ProgressSource; clock: Clock }): DocumentWatch {
  const watchers = new Set<Watcher>()
  const closing = new AbortController()
  let listening: Promise<unknown> | undefined

  function listen() {
    return (listening ??= documents.listenChanges(
      ({ spaceId, documentId }) => {
        for (const watcher of watchers) if (watcher.spaceId === spaceId) note(watcher, documentId)
      },
      () => {
        for (const watcher of watchers) note(watcher)
      },
      (spaceId) => {
        for (const watcher of watchers) if (watcher.spaceId === spaceId) noteCounts(watcher)
      },
    )).catch((error: unknown) => {
      listening = undefined
      throw error
    })
  }

  async function* watch(space: WatchedSpace, clientSignal: AbortSignal) {
    const ofOrganisation = [...watchers].filter(({ organisationId }) => organisationId === space.organisationId)
    if (watchers.size >= maximumWatchers || ofOrganisation.length >= maximumWatchersOfOrganisation) {
      throw new AppError('overloaded', 'Too many event streams are open. Read the list of documents instead.', {
        retryAfterSeconds: 30,
      })
    }
    const signal = anySignal(clientSignal, closing.signal)
    const watcher = createWatcher(space)
    watchers.add(watcher)
    const wake = () => watcher.wake()
    signal.addEventListener('abort', wake)
    try {
      await listen()
      while (!signal.aborted) {
        if (watcher.needsSnapshot) yield await takeSnapshot(documents, watcher)
        else if (watcher.changed.size > 0) yield* takeChanges(documents, watcher)
        if (watcher.needsCounts && clock.monotonicMs() - watcher.countedMs >= countsEveryMs) {
          watcher.countedMs = clock.monotonicMs()
          yield* takeCounts(documents, watcher)
        }
        const isIdle = !watcher.needsSnapshot && !watcher.needsCounts && watcher.changed.size === 0
        if (isIdle) await new Promise<void>((resolve) => (watcher.wake = resolve))
        await clock.sleep(gatherMs, signal)
      }
    } catch (error) {
      if (!signal.aborted || (isAppError(error) && error.code === 'overloaded')) throw error
    } finally {
      signal.removeEventListener('abort', wake)
      watchers.delete(watcher)
    }
  }

  return { watch, close: () => closing.abort() }
}

function createWatcher(space: WatchedSpace): Watcher {
  return {
    ...space,
    changed: new Set(),
    needsSnapshot: true,
    needsCounts: false,
    countedMs: -Infinity,
    sentOperations: '',
    wake: () => {},
  }
}

/** Without an id, changes may have been missed. */
function note(watcher: Watcher, documentId?: string) {
  if (documentId === undefined || watcher.changed.size >= maximumChanged) watcher.needsSnapshot = true
  else watcher.changed.add(documentId)
  noteCounts(watcher)
}

function noteCounts(watcher: Watcher) {
  watcher.needsCounts = true
  watcher.wake()
}

async function takeSnapshot(documents: ProgressSource, watcher: Watcher): Promise<DocumentEvent> {
  watcher.needsSnapshot = false
  watcher.changed.clear()
  const newest = { filter: {}, sort: 'newest', after: undefined, offset: 0, limit: snapshotDocuments } as const
  const { items, contents } = await documents.loadList(watcher.organisationId, watcher.spaceId, newest)
  return { type: 'snapshot', counts: contents.counts, items }
}

async function* takeChanges(documents: ProgressSource, watcher: Watcher): AsyncGenerator<DocumentEvent> {
  const ids = [...watcher.changed]
  watcher.changed.clear()
  const rows = await documents.loadProgressOf(watcher.organisationId, watcher.spaceId, ids)
  for (const document of rows) yield { type: 'document', document }
  const found = new Set<string>(rows.map((row) => row.id))
  for (const id of ids) if (!found.has(id)) yield { type: 'removed', id }
}

async function* takeCounts(documents: ProgressSource, watcher: Watcher): AsyncGenerator<DocumentEvent> {
  watcher.needsCounts = false
  const { counts } = await documents.loadContents(watcher.organisationId, watcher.spaceId)
  yield { type: 'counts', counts }
  const operations = await documents.loadOperations(watcher.organisationId, watcher.spaceId)
  const text = JSON.stringify(operations)
  if (text === watcher.sentOperations) return
  watcher.sentOperations = text
  yield { type: 'operations', operations }
}
