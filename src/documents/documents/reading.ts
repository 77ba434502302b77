import { documentTypes } from '../../contract/documents.ts'
import type { NewDocument } from './document.ts'

/** The media type of a file as it is stored: of a text with the charset that its upload stated. */
export function storedMediaType(mimeType: string, charset: string | undefined): string {
  return charset && mimeType.startsWith('text/') ? `${mimeType}; charset=${charset}` : mimeType
}

/** How a stored file is read. */
export interface Reading {
  /** The charset that the upload stated; text formats only. */
  declaredEncoding: string | undefined
  /** False for a file that version 1 has received: files and pictures in it are only named. */
  readsEmbedded: boolean
}

export function readingOf({
  format,
  mimeType,
  apiVersion,
}: Pick<NewDocument, 'mimeType' | 'apiVersion'> & { format: string }): Reading {
  return {
    declaredEncoding: /charset=(\S+)/.exec(mimeType)?.[1],
    readsEmbedded: apiVersion === 2 || !formatsOfVersion1.has(format),
  }
}

const formatsOfVersion1 = new Set<string>(documentTypes.flatMap(({ format, since }) => (since === 1 ? [format] : [])))
