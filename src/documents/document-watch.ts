import { AppError, anySignal, type Clock, isAppError } from '../kernel/index.ts'
import type { DocumentCounts, DocumentProgressRow } from './document.ts'
import type { DocumentStore } from './documents.store.ts'

/** The events of a watched Space, in order: a snapshot, then changes; another snapshot if changes may have been missed. */
export type DocumentEvent =
  | { type: 'snapshot'; counts: DocumentCounts; items: DocumentProgressRow[] }
  | { type: 'document'; document: DocumentProgressRow }
  | { type: 'removed'; id: string }
  | { type: 'counts'; counts: DocumentCounts }

export interface DocumentWatch {
  /** Ends when `signal` aborts or the service stops. Throws AppError `overloaded` if there are too many watchers. */
  watch(space: WatchedSpace, signal: AbortSignal): AsyncGenerator<DocumentEvent>
  close(): void
}

/** A snapshot has the newest documents. */
const snapshotDocuments = 100
/** Changes are collected for this time, so that an upload of thousands of files is sent in batches. */
const gatherMs = 250
/** Most changes of one Space that are kept by id. Above it, a new snapshot is sent. */
const maximumChanged = 200
const maximumWatchers = 500

interface WatchedSpace {
  organisationId: string
  spaceId: string
}

interface Watcher {
  spaceId: string
  changed: Set<string>
  needsSnapshot: boolean
  wake: () => void
}

type ProgressSource = Pick<DocumentStore, 'listenChanges' | 'loadProgressPage' | 'loadProgressOf'>

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
    )).catch((error: unknown) => {
      listening = undefined
      throw error
    })
  }

  async function* watch(space: WatchedSpace, clientSignal: AbortSignal) {
    if (watchers.size >= maximumWatchers) {
      throw new AppError('overloaded', 'Too many event streams are open. Read the list of documents instead.', {
        retryAfterSeconds: 30,
      })
    }
    const signal = anySignal(clientSignal, closing.signal)
    const watcher: Watcher = { spaceId: space.spaceId, changed: new Set(), needsSnapshot: true, wake: () => {} }
    watchers.add(watcher)
    const wake = () => watcher.wake()
    signal.addEventListener('abort', wake)
    try {
      await listen()
      while (!signal.aborted) {
        if (watcher.needsSnapshot) yield await takeSnapshot(documents, space, watcher)
        else if (watcher.changed.size > 0) yield* takeChanges(documents, space, watcher)
        else await new Promise<void>((resolve) => (watcher.wake = resolve))
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

/** Without an id, changes may have been missed. */
function note(watcher: Watcher, documentId?: string) {
  if (documentId === undefined || watcher.changed.size >= maximumChanged) watcher.needsSnapshot = true
  else watcher.changed.add(documentId)
  watcher.wake()
}

async function takeSnapshot(
  documents: ProgressSource,
  { organisationId, spaceId }: WatchedSpace,
  watcher: Watcher,
): Promise<DocumentEvent> {
  watcher.needsSnapshot = false
  watcher.changed.clear()
  const page = { status: undefined, limit: snapshotDocuments, offset: 0 }
  const { counts, items } = await documents.loadProgressPage(organisationId, spaceId, page)
  return { type: 'snapshot', counts, items }
}

async function* takeChanges(
  documents: ProgressSource,
  { organisationId, spaceId }: WatchedSpace,
  watcher: Watcher,
): AsyncGenerator<DocumentEvent> {
  const ids = [...watcher.changed]
  watcher.changed.clear()
  const rows = await documents.loadProgressOf(organisationId, spaceId, ids)
  for (const document of rows) yield { type: 'document', document }
  const found = new Set<string>(rows.map((row) => row.id))
  for (const id of ids) if (!found.has(id)) yield { type: 'removed', id }
  const page = { status: undefined, limit: 1, offset: 0 }
  const { counts } = await documents.loadProgressPage(organisationId, spaceId, page)
  yield { type: 'counts', counts }
}
