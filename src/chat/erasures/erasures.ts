import type { Erasure, ErasureKind, ErasurePage } from '../../contract/erasures.ts'
import { createUuid, isUuid } from '../../platform/kernel/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import { createErasureWorker, type ErasureWorkerDependencies } from './erasure-worker.ts'
import { erasuresColumn } from './erasures.store.ts'

export type Erasures = ReturnType<typeof createErasures>

/** Erasures of visitors and documents with their certificates. */
export function createErasures(dependencies: ErasureWorkerDependencies) {
  const { store, keys, secretBox, clock } = dependencies
  const worker = createErasureWorker(dependencies)
  return {
    /** Durable when it resolves; the work begins at once. An open one of the same subject includes this one. */
    async request(organisationId: string, kind: ErasureKind, value: string, actor: Actor): Promise<Erasure> {
      const nowMs = clock.now()
      const newId = createUuid(nowMs)
      const id = await store.accept({
        id: newId,
        organisationId,
        kind,
        subjectDigest: keys.digest(organisationId, kind, value),
        subjectSealed: secretBox.seal(value, erasuresColumn.contextOf(newId)),
        requestedAtMs: nowMs,
        actor,
      })
      void worker.run()
      return (await store.load(organisationId, id))!
    },
    load: async (organisationId: string, id: string): Promise<Erasure | undefined> =>
      isUuid(id) ? store.load(organisationId, id) : undefined,
    async loadPage(organisationId: string, limit: number, cursor: string | undefined): Promise<ErasurePage> {
      const [atMs, id] = cursor?.split('.') ?? []
      const before = id === undefined ? null : { atMs: Number(atMs), id }
      const { items, hasMore } = await store.loadPage(organisationId, limit, before)
      const last = items.at(-1)
      return { items, nextCursor: hasMore && last ? `${Date.parse(last.requestedAt)}.${last.id}` : null }
    },
    /** `organisationId`: certificates of other organisations are not genuine for this caller. */
    async verify(certificate: Readonly<Record<string, unknown>>, organisationId?: string) {
      const isOwn = organisationId === undefined || certificate['organisationId'] === organisationId
      if (!isOwn || !keys.isGenuine(certificate)) return { genuine: false, logEntries: [] }
      const ids = certificate['logEntryIds'] as string[]
      const found = await store.findLogEntries(ids)
      return { genuine: true, logEntries: ids.map((id) => ({ id, exists: found.has(id) })) }
    },
    run: worker.run,
    close: worker.close,
  }
}
