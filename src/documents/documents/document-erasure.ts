import type { OrganisationId } from '../../platform/kernel/index.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import type { DocumentStore } from './documents.store.ts'

/** A row of a document: its content, or the content that replaces it. */
export interface DocumentVersion {
  id: string
  blobKey: string
  at: Date
}

/** Removes a document with its files, and counts what is left of it. */
export function createDocumentErasure({
  store,
  blobs,
}: {
  store: Pick<DocumentStore, 'loadVersions' | 'remove' | 'removeUploadKeys' | 'findOrphanBlobs' | 'countBlobRemovals'>
  blobs: Pick<BlobStore, 'delete' | 'exists'>
}) {
  return {
    loadVersions: (organisationId: string, documentId: string): Promise<DocumentVersion[]> =>
      store.loadVersions(organisationId as OrganisationId, documentId),

    /** The admin log gets no entry with the name of the document. */
    async removeRows(organisationId: string, documentId: string): Promise<void> {
      await store.remove(organisationId as OrganisationId, documentId)
      await store.removeUploadKeys(organisationId as OrganisationId, documentId)
    },

    /** Blobs without a row. A job removes them too; both may. */
    async removeFiles(blobKeys: readonly string[]): Promise<void> {
      for (const key of await store.findOrphanBlobs(blobKeys)) await blobs.delete(key)
    },

    /** `files` includes every file of the organisation that a job is going to remove: one may be an earlier content of this document. */
    async countLeft(organisationId: string, documentId: string, blobKeys: readonly string[]) {
      let files = await store.countBlobRemovals(organisationId)
      for (const key of blobKeys) if (await blobs.exists(key)) files++
      const versions = await store.loadVersions(organisationId as OrganisationId, documentId)
      return { documents: versions.length, files }
    },
  }
}
