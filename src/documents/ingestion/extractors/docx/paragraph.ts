import type { ExtractedBlock } from '../../extraction.ts'
import { cleanLine, cleanText } from '../clean-text.ts'
import type { LinkedText } from '../link-target.ts'
import type { DocxNumbering } from './numbering.ts'
import type { ParagraphStyle } from './styles.ts'

/** A paragraph while its elements are read. */
export interface Paragraph extends LinkedText {
  style: ParagraphStyle
  outlineLevel: number | null
  numId: string | null
  numLevel: number | null
  /** It holds only the large first letters of the next paragraph. */
  isInitial: boolean
}

export function newParagraph(style: ParagraphStyle): Paragraph {
  return { text: '', style, outlineLevel: null, numId: null, numLevel: null, isInitial: false, links: [] }
}

/** Counts a paragraph of a list and writes the number that Word displays before its text. */
export function numberParagraph(paragraph: Paragraph, numbering: DocxNumbering) {
  const { style } = paragraph
  const numId = paragraph.numId ?? style.numId
  if (numId === null || numId === '0' || paragraph.text.trim() === '') return
  const ofStyle = style.ids.map((id) => numbering.levelOfStyle(numId, id)).find((level) => level !== null)
  const number = numbering.next(numId, paragraph.numLevel ?? style.numLevel ?? ofStyle ?? 0)
  if (number !== '') paragraph.text = `${number} ${paragraph.text.trimStart()}`
}

/** What its part is; `running`: a header or footer of pages. */
export type PartRole = 'body' | 'footnote' | 'running'

/** The block of a complete paragraph; null where it has no text. */
export function paragraphBlock(paragraph: Paragraph, role: PartRole, noteMark: string): ExtractedBlock | null {
  const text = cleanText(paragraph.text)
    .replace(/[^\S\n]+$/gm, '')
    .replace(/^\s*\n|\s+$/g, '')
  if (text.trim() === '') return null
  if (role === 'footnote') return { kind: 'footnote', text: noteMark + text.trimStart() }
  if (role === 'running') return { kind: 'paragraph', text: text.trimStart() }
  const { style, outlineLevel, numId } = paragraph
  const numbered = numId === null ? null : numId !== '0'
  const level = outlineLevel !== null && outlineLevel <= 8 ? Math.min(6, outlineLevel + 1) : style.headingLevel
  if (level !== null) return { kind: 'heading', level, text: cleanLine(text) }
  if (numbered ?? style.isListItem) return { kind: 'list_item', text }
  if (style.isCode) return { kind: 'code', text }
  return { kind: style.isQuote ? 'quote' : 'paragraph', text }
}
