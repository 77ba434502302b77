import type { Clock } from '../../platform/kernel/index.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import { orphanAgeMs } from './document-sweeper.ts'
import type { DocumentStore } from './documents.store.ts'

/** One inconsistency of the stored documents. */
export interface DocumentFinding {
  rule: string
  subject: string
  expected: string
  found: string
}

/** Most findings that one rule lists; repairing them shows further ones. */
const maximumFindingsPerRule = 100
const rowsPerPage = 1000

interface AuditDependencies {
  store: Pick<
    DocumentStore,
    'findStuck' | 'findMiscounted' | 'findOrphanBlobs' | 'isBlobRemovalPending' | 'loadBlobKeys'
  >
  blobs: Pick<BlobStore, 'list' | 'exists'>
  clock: Clock
}

/** Checks that each document has what its state requires, and that deleted documents left no data. */
export function createDocumentAudit(dependencies: AuditDependencies): {
  area: string
  run(): Promise<DocumentFinding[]>
} {
  return {
    area: 'documents',
    async run() {
      const checks = [findStuck, findMiscounted, findOrphanBlobs, findMissingBlobs]
      const findings: DocumentFinding[] = []
      for (const check of checks) findings.push(...(await check(dependencies)))
      return findings
    },
  }
}

async function findStuck({ store }: AuditDependencies): Promise<DocumentFinding[]> {
  return (await store.findStuck()).map(({ id }) => ({
    rule: 'a document in processing has a job',
    subject: id,
    expected: 'a job',
    found: 'none',
  }))
}

async function findMiscounted({ store }: AuditDependencies): Promise<DocumentFinding[]> {
  return (await store.findMiscounted(maximumFindingsPerRule)).map(({ id, counted, found }) => ({
    rule: 'a ready document has all of its chunks',
    subject: id,
    expected: counted === 0 ? 'at least one chunk' : `${counted} chunks`,
    found: `${found} chunks`,
  }))
}

/** Blobs without a document, except those that may belong to an upload in progress. */
async function findOrphanBlobs({ store, blobs, clock }: AuditDependencies): Promise<DocumentFinding[]> {
  const orphans: string[] = []
  let keys: string[] = []
  const flush = async () => {
    for (const key of await store.findOrphanBlobs(keys)) {
      // A job removes the blob of a deleted document, so only a blob without a job is a finding.
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

async function findMissingBlobs({ store, blobs }: AuditDependencies): Promise<DocumentFinding[]> {
  const missing: DocumentFinding[] = []
  let last: string | null = null
  for (;;) {
    const page: { id: string; blobKey: string }[] = await store.loadBlobKeys(last, rowsPerPage)
    for (const { id, blobKey } of page) {
      if (await blobs.exists(blobKey)) continue
      // The document may have been deleted since the page was read.
      const [orphan] = await store.findOrphanBlobs([blobKey])
      if (orphan === undefined) {
        missing.push({ rule: 'a document has its file', subject: id, expected: 'a stored file', found: 'none' })
      }
    }
    if (page.length < rowsPerPage || missing.length >= maximumFindingsPerRule) return missing
    last = page.at(-1)!.id
  }
}
