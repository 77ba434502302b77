/** The job that removes a blob whose document is gone; its payload names the `blobKey`. */
export const deleteBlobJob = 'delete-blob'

export const blobRemovalKey = (blobKey: string) => `${deleteBlobJob}:${blobKey}`
