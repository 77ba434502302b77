import { cleanLine } from '../clean-text.ts'
import { readText, type TextFunctions } from './form-fields.ts'

/** PDFium's functions for attached files. */
export interface AttachmentFunctions extends TextFunctions {
  _FPDFDoc_GetAttachmentCount(document: number): number
  _FPDFDoc_GetAttachment(document: number, index: number): number
  _FPDFAttachment_GetName(attachment: number, buffer: number, bytes: number): number
  _FPDFAttachment_GetSubtype(attachment: number, buffer: number, bytes: number): number
}

/** Attached files of a document that are looked at. */
const maximumAttachments = 1_000

/** A file that is attached to a pdf or to one of its pages. */
export interface PdfAttachment {
  name: string
  /** Such as `text/plain`; empty where it is not stated. */
  type: string
  /** In the list of the document, or among the annotations of its page. */
  index: number
}

/** The files that are attached to the document. */
export function listAttachments(pdfium: AttachmentFunctions, document: number): PdfAttachment[] {
  const count = Math.min(pdfium._FPDFDoc_GetAttachmentCount(document), maximumAttachments)
  const found: PdfAttachment[] = []
  for (let index = 0; index < count; index += 1) {
    const attachment = pdfium._FPDFDoc_GetAttachment(document, index)
    if (attachment !== 0) found.push(describeAttachment(pdfium, attachment, index, index + 1))
  }
  return found
}

/** `attachment`: 0 where an annotation names none. */
export function describeAttachment(
  pdfium: AttachmentFunctions,
  attachment: number,
  index: number,
  number = 1,
): PdfAttachment {
  const textOf = (read: typeof pdfium._FPDFAttachment_GetName) =>
    attachment === 0 ? '' : cleanLine(readText(pdfium, (buffer, bytes) => read(attachment, buffer, bytes)))
  return {
    name: textOf(pdfium._FPDFAttachment_GetName) || `file ${number}`,
    type: textOf(pdfium._FPDFAttachment_GetSubtype),
    index,
  }
}
