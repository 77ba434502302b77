import { AppError, anySignal, type Clock, isAppError } from '../kernel/index.ts'
import type { DocumentCounts, DocumentProgressRow } from './document.ts'
import type { DocumentStore } from './documents.store.ts'

/** What a watcher of a Space is told, in order: a snapshot, then changes; a new snapshot where changes may have been missed. */
export type DocumentEvent =
  | { type: 'snapshot'; counts: DocumentCounts; items: DocumentProgressRow[] }
  | { type: 'document'; document: DocumentProgressRow }
  | { type: 'removed'; id: string }
  | { type: 'counts'; counts: DocumentCounts }

export interface DocumentWatch {
  /** Ends when `signal` aborts or the service stops. Throws AppError `overloaded` where too many watch already. */
  watch(space: { organisationId: string; spaceId: string }, signal: AbortSignal): AsyncGenerator<DocumentEvent>
  close(): void
}

/** Newest documents of a snapshot. */
const snapshotDocuments = 100
/** Changes are gathered for this long, so that an upload of thousands of files is told in batches. */
const gatherMs = 250
/** Changes of one Space that are remembered by id; beyond it a new snapshot says it all. */
const maximumChanged = 200
const maximumWatchers = 500

interface Watcher {
  spaceId: string
  changed: Set<string>
  needsSnapshot: boolean
  wake: () => void
}

/** Follows the documents of Spaces as they change, on whatever instance. */
export function createDocumentWatch({
  documents,
  clock,
}: {
  documents: Pick<DocumentStore, 'listenChanges' | 'loadProgressPage' | 'loadProgressOf'>
  clock: Clock
}): DocumentWatch {
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

  /** Without an id: something may have been missed. */
  function note(watcher: Watcher, documentId?: string) {
    if (documentId === undefined || watcher.changed.size >= maximumChanged) watcher.needsSnapshot = true
    else watcher.changed.add(documentId)
    watcher.wake()
  }

  async function* watch(space: { organisationId: string; spaceId: string }, clientSignal: AbortSignal) {
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
        if (watcher.needsSnapshot) yield await takeSnapshot(space, watcher)
        else if (watcher.changed.size > 0) yield* takeChanges(space, watcher)
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

  async function takeSnapshot(
    { organisationId, spaceId }: { organisationId: string; spaceId: string },
    watcher: Watcher,
  ): Promise<DocumentEvent> {
    watcher.needsSnapshot = false
    watcher.changed.clear()
    const page = { status: undefined, limit: snapshotDocuments, offset: 0 }
    const { counts, items } = await documents.loadProgressPage(organisationId, spaceId, page)
    return { type: 'snapshot', counts, items }
  }

  async function* takeChanges(
    { organisationId, spaceId }: { organisationId: string; spaceId: string },
    watcher: Watcher,
  ): AsyncGenerator<DocumentEvent> {
    const ids = [...watcher.changed]
    watcher.changed.clear()
    const rows = await documents.loadProgressOf(organisationId, spaceId, ids)
    for (const document of rows) yield { type: 'document', document }
    const found = new Set(rows.map((row) => row.id))
    for (const id of ids) if (!found.has(id)) yield { type: 'removed', id }
    const { counts } = await documents.loadProgressPage(organisationId, spaceId, {
      status: undefined,
      limit: 1,
      offset: 0,
    })
    yield { type: 'counts', counts }
  }

  return { watch, close: () => closing.abort() }
}
