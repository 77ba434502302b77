import type { QueuePlaceBody } from '../../contract/documents.ts'
import type { Database } from '../../platform/database/index.ts'
import { loadQueuePlaces, type QueuePlace } from '../../platform/jobs/index.ts'
import type { Document } from './document.ts'
import { processingKey } from './processing-job.ts'

/** The places of the documents that wait for a worker, by their ids. */
export async function loadPlacesInQueue(
  database: Database,
  owner: string,
  documents: readonly Pick<Document, 'id' | 'rowId' | 'status'>[],
): Promise<Map<string, QueuePlace>> {
  const processed = documents.filter(({ status }) => status === 'processing')
  const places = await loadQueuePlaces(
    database,
    owner,
    processed.map(({ rowId }) => processingKey(rowId)),
  )
  return new Map(
    processed.flatMap(({ id, rowId }) => {
      const place = places.get(processingKey(rowId))
      return place ? [[id, place] as const] : []
    }),
  )
}

export function renderPlace({ place, estimatedMs }: QueuePlace): QueuePlaceBody {
  return { place, estimatedSeconds: estimatedMs === null ? null : Math.ceil(estimatedMs / 1000) }
}
