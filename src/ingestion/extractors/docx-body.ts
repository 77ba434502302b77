import type { ExtractedBlock } from '../extraction.ts'
import { cleanLine, cleanText } from './clean-text.ts'
import type { ParagraphStyle } from './docx-styles.ts'
import { createDocxTable, type DocxTable } from './docx-table.ts'
import type { XmlHandler } from './office-xml.ts'

/** Elements whose text is not the document's: deleted and moved-away revisions, field codes, the older twin of a drawing. */
const skipped = new Set([
  'w:del',
  'w:moveFrom',
  'w:delText',
  'w:instrText',
  'w:delInstrText',
  'mc:Fallback',
  'w:rPrChange',
  'w:pPrChange',
])

interface Paragraph {
  text: string
  style: ParagraphStyle
  outlineLevel: number | null
  numbered: boolean | null
}

interface Table {
  /** Null for a table of one column: that is layout, and its paragraphs stand for themselves. */
  rows: DocxTable | null
  columns: number
  cells: string[]
  cell: string[] | null
  span: number
  declaredHeader: boolean
}

export interface DocxBody extends XmlHandler {
  /** Blocks that are complete by now. */
  take(): ExtractedBlock[]
}

/** Reads the elements of a document, footnotes or endnotes part into blocks. */
export function createDocxBody(styleOf: (id: string | null) => ParagraphStyle, notes?: 'footnote'): DocxBody {
  let blocks: ExtractedBlock[] = []
  const paragraphs: Paragraph[] = []
  const tables: Table[] = []
  let skipDepth = 0
  let inText = false
  let noteMark = ''

  const append = (text: string) => {
    const paragraph = paragraphs.at(-1)
    if (paragraph) paragraph.text += text
  }
  const innermostCell = () => tables.findLast((table) => table.cell !== null && table.rows !== null)?.cell ?? null

  function closeParagraph() {
    const paragraph = paragraphs.pop()
    if (!paragraph) return
    const cell = innermostCell()
    if (cell) {
      const text = cleanLine(paragraph.text)
      if (text !== '') cell.push(text)
      return
    }
    const block = paragraphBlock(paragraph, notes, noteMark)
    if (block) {
      noteMark = ''
      blocks.push(block)
    }
  }

  function closeRow(table: Table) {
    if (!table.rows) return
    const outer = tables.length > 1 ? innermostCell() : null
    // A table inside a cell becomes lines of that cell.
    if (outer) outer.push(table.cells.filter((cell) => cell !== '').join(' | '))
    else blocks.push(...table.rows.addRow(table.cells, table.declaredHeader))
  }

  function openTable(name: string, attribute: (localName: string) => string | undefined) {
    const table = tables.at(-1)
    if (name === 'w:tbl') tables.push({ rows: null, columns: 0, cells: [], cell: null, span: 1, declaredHeader: false })
    else if (!table) return
    else if (name === 'w:gridCol') {
      table.columns += 1
      if (table.columns > 1) table.rows ??= createDocxTable()
    } else if (name === 'w:tr') {
      // A table without a grid is taken for a real one.
      if (table.columns === 0) table.rows ??= createDocxTable()
      table.cells = []
      table.declaredHeader = false
    } else if (name === 'w:tblHeader') table.declaredHeader = isOn(attribute('val'))
    else if (name === 'w:tc') {
      table.cell = []
      table.span = 1
    } else if (name === 'w:gridSpan') table.span = Math.min(64, Number(attribute('val')) || 1)
  }

  function closeTable(name: string) {
    const table = tables.at(-1)
    if (!table) return
    if (name === 'w:tc') {
      const text = (table.cell ?? []).join(' ')
      table.cells.push(text, ...Array.from({ length: table.span - 1 }, () => ''))
      table.cell = null
    } else if (name === 'w:tr') closeRow(table)
    else if (name === 'w:tbl') {
      tables.pop()
      if (table.rows && !innermostCell()) blocks.push(...table.rows.end())
    }
  }

  return {
    open(name, attribute) {
      if (skipDepth > 0 || skipped.has(name)) {
        skipDepth += 1
        return
      }
      openTable(name, attribute)
      const paragraph = paragraphs.at(-1)
      switch (name) {
        case 'w:p':
          paragraphs.push({ text: '', style: styleOf(null), outlineLevel: null, numbered: null })
          return
        case 'w:pStyle':
          if (paragraph) paragraph.style = styleOf(attribute('val') ?? null)
          return
        case 'w:outlineLvl':
          if (paragraph) paragraph.outlineLevel = Number(attribute('val'))
          return
        case 'w:numId':
          if (paragraph) paragraph.numbered = attribute('val') !== '0'
          return
        case 'w:footnote':
        case 'w:endnote':
          noteMark = `[^${attribute('id') ?? ''}] `
          return
        case 'w:footnoteReference':
        case 'w:endnoteReference':
          return append(`[^${attribute('id') ?? ''}]`)
        case 'w:t':
        case 'm:t':
          inText = true
          return
        case 'w:tab':
        case 'w:ptab':
          return append('\t')
        case 'w:br':
        case 'w:cr':
          return append('\n')
        case 'w:noBreakHyphen':
          return append('-')
        case 'w:sym':
          return append(symbol(attribute('char')))
      }
    },
    close(name) {
      if (skipDepth > 0) {
        skipDepth -= 1
        return
      }
      if (name === 'w:t' || name === 'm:t') inText = false
      else if (name === 'w:p') closeParagraph()
      else closeTable(name)
    },
    text(text) {
      if (inText && skipDepth === 0) append(text)
    },
    take() {
      const taken = blocks
      blocks = []
      return taken
    },
  }
}

function paragraphBlock(paragraph: Paragraph, notes: 'footnote' | undefined, noteMark: string): ExtractedBlock | null {
  const text = cleanText(paragraph.text)
    .replace(/[^\S\n]+$/gm, '')
    .replace(/^\s*\n|\s+$/g, '')
  if (text.trim() === '') return null
  if (notes) return { kind: notes, text: noteMark + text.trimStart() }
  const { style, outlineLevel, numbered } = paragraph
  const level = outlineLevel !== null && outlineLevel <= 8 ? Math.min(6, outlineLevel + 1) : style.headingLevel
  if (level !== null) return { kind: 'heading', level, text: cleanLine(text) }
  if (numbered ?? style.isListItem) return { kind: 'list_item', text }
  if (style.isCode) return { kind: 'code', text }
  return { kind: style.isQuote ? 'quote' : 'paragraph', text }
}

/** A character named by its code. Symbol fonts use the private area, where the code says nothing without the font. */
function symbol(code: string | undefined): string {
  const value = Number.parseInt(code ?? '', 16)
  return value >= 0x20 && (value < 0xd800 || value > 0xf8ff) && value <= 0xfffd ? String.fromCharCode(value) : ''
}

function isOn(value: string | undefined): boolean {
  return value === undefined || !['0', 'false', 'off'].includes(value)
}
