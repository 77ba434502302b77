import type { ExtractedBlock } from '../../extraction.ts'
import { cleanLine } from '../clean-text.ts'
import { commentBlock } from '../comment-block.ts'
import type { PdfCharacters } from './character.ts'
import { type AttachmentFunctions, type PdfAttachment, describeAttachment } from './attachments.ts'
import { hiddenFlags, readText, readValue } from './form-fields.ts'

/** PDFium's functions for notes and files that are attached to pages. */
export interface NoteFunctions extends AttachmentFunctions {
  _FPDFPage_GetAnnotCount(page: number): number
  _FPDFPage_GetAnnot(page: number, index: number): number
  _FPDFPage_CloseAnnot(annotation: number): void
  _FPDFAnnot_GetSubtype(annotation: number): number
  _FPDFAnnot_GetFlags(annotation: number): number
  _FPDFAnnot_GetFileAttachment(annotation: number): number
  _FPDFAnnot_GetAP(annotation: number, mode: number, buffer: number, bytes: number): number
}

/** Numbers of PDFium's public header fpdf_annot.h. */
const textNote = 1
const freeText = 3
/** Drawings, marks of text, stamps, carets and ink: readers can write a comment for each. */
const firstDrawing = 4
const lastDrawing = 15
const fileAttachment = 17

/** Annotations of one page that are looked at. */
const maximumAnnotations = 5_000
/** Pages with more characters are not searched for the texts of their notes. */
const maximumCharacters = 30_000
/** A comment of this length that the page has word by word is a copy of the marked text. */
const copyCharacters = 20

interface PdfNote {
  /** Free text is part of the page; the others are comments. */
  isText: boolean
  author: string
  text: string
}

export interface PageAnnotations {
  notes: PdfNote[]
  /** Attached to the page. */
  files: PdfAttachment[]
}

export const noAnnotations: PageAnnotations = { notes: [], files: [] }

/** What readers have written on a page. Call it before the page's annotations are flattened: that keeps only what is drawn. */
export function readAnnotations(pdfium: NoteFunctions, page: number): PageAnnotations {
  const found: PageAnnotations = { notes: [], files: [] }
  const count = Math.min(pdfium._FPDFPage_GetAnnotCount(page), maximumAnnotations)
  for (let index = 0; index < count; index += 1) {
    const annotation = pdfium._FPDFPage_GetAnnot(page, index)
    if (annotation === 0) continue
    const type = pdfium._FPDFAnnot_GetSubtype(annotation)
    const isHidden = (pdfium._FPDFAnnot_GetFlags(annotation) & hiddenFlags) !== 0
    const hasText = type === textNote || type === freeText || (type >= firstDrawing && type <= lastDrawing)
    if (type === fileAttachment)
      found.files.push(describeAttachment(pdfium, pdfium._FPDFAnnot_GetFileAttachment(annotation), index))
    if ((hasText || type === fileAttachment) && !isHidden && !(type === freeText && drawsText(pdfium, annotation))) {
      const text = readValue(pdfium, annotation, 'Contents').replace(/\r\n?/g, '\n')
      const author = text === '' ? '' : cleanLine(readValue(pdfium, annotation, 'T'))
      if (text !== '') found.notes.push({ isText: type === freeText, author, text })
    }
    pdfium._FPDFPage_CloseAnnot(annotation)
  }
  return found
}

/** Operators that show text, or another stream that may: flattening makes them part of the page. */
function drawsText(pdfium: NoteFunctions, annotation: number): boolean {
  const drawn = readText(pdfium, (buffer, bytes) => pdfium._FPDFAnnot_GetAP(annotation, 0, buffer, bytes))
  return /\b(?:Tj|TJ|Do)\b|\)\s*['"]/.test(drawn)
}

/** The notes of a page as blocks, without those that repeat its text. `characters` are those of the page. */
export function noteBlocks(notes: readonly PdfNote[], characters: PdfCharacters): ExtractedBlock[] {
  if (notes.length === 0) return []
  const shown =
    characters.length > maximumCharacters
      ? ''
      : Array.from({ length: characters.length }, (_, at) => characters.code(at))
          .filter((code) => code > 0x20 && code <= 0x10ffff)
          .map((code) => String.fromCodePoint(code))
          .join('')
  return notes.flatMap(({ isText, author, text }) => {
    const dense = text.replace(/\s+/g, '')
    if (dense.length >= copyCharacters && shown.includes(dense)) return []
    const block = commentBlock(author, text)
    if (!block || !isText) return block ?? []
    return { kind: 'paragraph' as const, text: text.split('\n').map(cleanLine).join('\n').trim() }
  })
}
