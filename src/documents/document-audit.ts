import type { Clock } from '../kernel/index.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import { orphanAgeMs } from './document-sweeper.ts'
import type { DocumentStore } from './documents.store.ts'

/** One thing about documents that does not fit. */
export interface DocumentFinding {
  rule: string
  subject: string
  expected: string
  found: string
}

/** Findings of one rule that are listed; more show after these are put right. */
const maximumFindingsPerRule = 100
const rowsPerPage = 1000

/** Checks that each document has what its state needs, and that nothing is left of those that are gone. */
export function createDocumentAudit({
  store,
  blobs,
  clock,
}: {
  store: Pick<
    DocumentStore,
    'findStuck' | 'findMiscounted' | 'findOrphanBlobs' | 'isBlobRemovalPending' | 'loadBlobKeys'
  >
  blobs: Pick<BlobStore, 'list' | 'exists'>
  clock: Clock
}): { area: string; run(): Promise<DocumentFinding[]> } {
  async function findStuck(): Promise<DocumentFinding[]> {
    return (await store.findStuck()).map(({ id }) => ({
      rule: 'a document in processing has a job',
      subject: id,
      expected: 'a job',
      found: 'none',
    }))
  }

  async function findMiscounted(): Promise<DocumentFinding[]> {
    return (await store.findMiscounted(maximumFindingsPerRule)).map(({ id, counted, found }) => ({
      rule: 'a ready document has all of its chunks',
      subject: id,
      expected: counted === 0 ? 'at least one chunk' : `${counted} chunks`,
      found: `${found} chunks`,
    }))
  }

  /** Blobs that no document names, apart from those that may belong to an upload in progress. */
  async function findOrphanBlobs(): Promise<DocumentFinding[]> {
    const orphans: string[] = []
    let keys: string[] = []
    const flush = async () => {
      for (const key of await store.findOrphanBlobs(keys)) {
        // That of a deleted document goes by a job: only one that is there without a job counts.
        if (!(await store.isBlobRemovalPending(key)) && (await blobs.exists(key))) orphans.push(key)
      }
      keys = []
    }
    for await (const { key, modifiedAt } of blobs.list()) {
      if (clock.now() - modifiedAt.getTime() < orphanAgeMs) continue
      keys.push(key)
      if (keys.length === rowsPerPage) await flush()
      if (orphans.length >= maximumFindingsPerRule) break
    }
    await flush()
    return orphans.map((key) => ({
      rule: 'a stored file belongs to a document',
      subject: key,
      expected: 'a document',
      found: 'none',
    }))
  }

  async function findMissingBlobs(): Promise<DocumentFinding[]> {
    const missing: DocumentFinding[] = []
    let last: string | null = null
    for (;;) {
      const page: { id: string; blobKey: string }[] = await store.loadBlobKeys(last, rowsPerPage)
      for (const { id, blobKey } of page) {
        if (await blobs.exists(blobKey)) continue
        // Deleted meanwhile?
        const [orphan] = await store.findOrphanBlobs([blobKey])
        if (orphan === undefined) {
          missing.push({ rule: 'a document has its file', subject: id, expected: 'a stored file', found: 'none' })
        }
      }
      if (page.length < rowsPerPage || missing.length >= maximumFindingsPerRule) return missing
      last = page.at(-1)!.id
    }
  }

  return {
    area: 'documents',
    async run() {
      const checks = [findStuck, findMiscounted, findOrphanBlobs, findMissingBlobs]
      const findings: DocumentFinding[] = []
      for (const check of checks) findings.push(...(await check()))
      return findings
    },
  }
}
