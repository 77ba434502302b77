import type { Database } from '../../platform/database/index.ts'

export interface DocumentChange {
  spaceId: string
  documentId: string
  /** The id of the row, which the index uses. It differs from the document's id after a replacement. */
  rowId: string
}

/** Sent by a trigger on `documents` (migration 0031): `<space> <row> <document>`; `<space>` alone after a change of an operation. */
export const changesChannel = 'portico_documents'

/** The changes of documents in any Space, on any instance. */
export function createProgressStore(database: Database) {
  return {
    /** Calls `onChange` after each committed change, `onMissed` if changes may have been missed, `onOperation` with the Space. */
    async listenChanges(
      onChange: (change: DocumentChange) => void,
      onMissed: () => void,
      onOperation?: (spaceId: string) => void,
    ): Promise<() => Promise<void>> {
      const stop = await database.listen(changesChannel, (payload) => {
        const [spaceId, rowId, documentId = rowId] = payload.split(' ')
        if (spaceId && rowId && documentId) onChange({ spaceId, rowId, documentId })
        else if (spaceId) onOperation?.(spaceId)
      })
      database.onReconnect(onMissed)
      return stop
    },
  }
}
