/** The job that removes the blob of a deleted document. Its payload has the `blobKey`. */
export const deleteBlobJob = 'delete-blob'

export const blobRemovalKey = (blobKey: string) => `${deleteBlobJob}:${blobKey}`
