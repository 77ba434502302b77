import type { ChunkPageBody } from '../../contract/document-progress.ts'
import type { DocumentTextBody } from '../../contract/document-viewer.ts'
import type { DocumentProgressRow } from './document.ts'

/** A document's stored file. */
export interface StoredFile {
  /** Of its row, which its chunks name. */
  rowId: string
  organisationId: string
  spaceId: string
  name: string
  blobKey: string
  /** With the charset that the upload declared. */
  mimeType: string
  sizeBytes: number
  /** The hash of its bytes. */
  version: string
  metadata: Record<string, unknown> | null
  isSearchable: boolean
}

export interface DocumentView {
  document: DocumentProgressRow
  metadata: Record<string, unknown> | null
  pageCount: number | null
  version: string
  text: DocumentTextBody
  chunks: Pick<ChunkPageBody, 'total' | 'items'>
}

/** What the viewer reads. Undefined: there is no such document. */
export interface Viewer {
  loadFile(documentId: string): Promise<StoredFile | undefined>
  /** A window of the extracted text, in code points; empty until the document is ready. */
  loadText(file: StoredFile, window: { from: number; to: number }): Promise<DocumentTextBody>
  /** The text of a page (from 1), up to the size of a window; empty where it has none. */
  loadPageText(file: StoredFile, page: number): Promise<DocumentTextBody>
  /** Facts, a window of the text and the first chunks. */
  loadView(
    documentId: string,
    file: StoredFile,
    options: { from: number; to: number; chunkLimit: number },
  ): Promise<DocumentView | undefined>
}
