import type { ExtractedBlock } from '../../extraction.ts'
import { cleanLine, cleanText } from '../clean-text.ts'
import type { DocxNumbering } from './numbering.ts'
import type { ParagraphStyle } from './styles.ts'
import { createDocxFormFields, wingdingBox } from './form-fields.ts'
import { createDocxTable, type DocxTable } from './table.ts'
import { linkTarget } from '../link-target.ts'
import type { XmlHandler } from '../office-xml.ts'

/** Elements whose text is not the document's: deleted and moved-away revisions, field codes, the older twin of a drawing. */
const skipped = new Set([
  'w:del',
  'w:moveFrom',
  'w:delText',
  'w:delInstrText',
  'mc:Fallback',
  'w:rPrChange',
  'w:pPrChange',
])

interface Paragraph {
  text: string
  style: ParagraphStyle
  outlineLevel: number | null
  numId: string | null
  numLevel: number | null
  /** Where the texts of open links begin, with their addresses. */
  links: { from: number; target: string }[]
}

/** A field between its begin and end marks. */
interface Field {
  code: string
  isCode: boolean
}

/** Longest field code that is read; only addresses matter. */
const maximumFieldCode = 4_000
const maximumOpenFields = 100
/** Most columns that one cell or gap of a row spans. */
const maximumSpan = 64

interface Table {
  /** Null for a table of one column: that is layout, and its paragraphs stand for themselves. */
  rows: DocxTable | null
  columns: number
  cells: string[]
  cell: string[] | null
  span: number
  /** The cell continues the one above it. */
  isMerged: boolean
  /** Texts by column of cells that may go on in the next rows. */
  merged: (string | undefined)[]
  startsMerge: boolean
  gapAfter: number
  declaredHeader: boolean
}

export interface DocxBody extends XmlHandler {
  /** Blocks that are complete by now. */
  take(): ExtractedBlock[]
}

interface DocxContext {
  styleOf: (id: string | null) => ParagraphStyle
  numbering: DocxNumbering
  /** Addresses by relationship id. */
  links: Map<string, string>
  notes?: 'footnote' | undefined
}

/** Reads the elements of a document, footnotes or endnotes part into blocks. */
export function createDocxBody({ styleOf, numbering, links, notes }: DocxContext): DocxBody {
  let blocks: ExtractedBlock[] = []
  const paragraphs: Paragraph[] = []
  const tables: Table[] = []
  let skipDepth = 0
  let inText = false
  let inFieldCode = false
  let noteMark = ''
  const fields: Field[] = []

  const append = (text: string) => {
    const paragraph = paragraphs.at(-1)
    if (paragraph) paragraph.text += text
  }
  const formFields = createDocxFormFields(append)
  const innermostCell = () => tables.findLast((table) => table.cell !== null && table.rows !== null)?.cell ?? null

  function closeParagraph() {
    const paragraph = paragraphs.pop()
    if (!paragraph) return
    while (paragraph.links.length > 0) endLink(paragraph)
    numberParagraph(paragraph, numbering)
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
    if (name === 'w:tbl') tables.push(newTable())
    else if (!table) return
    else if (name === 'w:gridCol') {
      table.columns += 1
      if (table.columns > 1) table.rows ??= createDocxTable()
    } else if (name === 'w:tr') {
      // A table without a grid is taken for a real one.
      if (table.columns === 0) table.rows ??= createDocxTable()
      table.cells = []
      table.gapAfter = 0
      table.declaredHeader = false
    } else if (name === 'w:gridBefore') table.cells.push(...emptyCells(attribute('val')))
    else if (name === 'w:gridAfter') table.gapAfter = emptyCells(attribute('val')).length
    else if (name === 'w:tblHeader') table.declaredHeader = isOn(attribute('val'))
    else if (name === 'w:tc') {
      table.cell = []
      table.span = 1
      table.isMerged = false
      table.startsMerge = false
    } else if (name === 'w:gridSpan') table.span = Math.max(1, Math.min(maximumSpan, Number(attribute('val')) || 1))
    else if (name === 'w:vMerge') {
      table.startsMerge = attribute('val') === 'restart'
      table.isMerged = !table.startsMerge
    }
  }

  function closeTable(name: string) {
    const table = tables.at(-1)
    if (!table) return
    if (name === 'w:tc') {
      const column = table.cells.length
      const own = (table.cell ?? []).join(' ')
      // Each row is read alone, so that a merged cell is repeated in each of its rows.
      const text = table.isMerged && own === '' ? (table.merged[column] ?? '') : own
      if (!table.isMerged) table.merged[column] = table.startsMerge ? text : undefined
      table.cells.push(text, ...Array.from({ length: table.span - 1 }, () => ''))
      table.cell = null
    } else if (name === 'w:tr') {
      for (let gap = 0; gap < table.gapAfter; gap += 1) table.cells.push('')
      closeRow(table)
    } else if (name === 'w:tbl') {
      tables.pop()
      if (table.rows && !innermostCell()) blocks.push(...table.rows.end())
    }
  }

  function markField(type: string | undefined) {
    if (type === 'begin') {
      if (fields.length < maximumOpenFields) fields.push({ code: '', isCode: true })
      return
    }
    const field = fields.at(-1)
    if (!field) return
    if (type === 'separate') {
      field.isCode = false
      startLink(paragraphs.at(-1), fieldTarget(field.code))
    } else if (type === 'end') {
      fields.pop()
      if (!field.isCode) endLink(paragraphs.at(-1))
    }
  }

  return {
    open(name, attribute) {
      if (skipDepth > 0 || skipped.has(name)) {
        skipDepth += 1
        return
      }
      openTable(name, attribute)
      formFields.open(name, attribute)
      const paragraph = paragraphs.at(-1)
      switch (name) {
        case 'w:p':
          paragraphs.push({
            text: '',
            style: styleOf(null),
            outlineLevel: null,
            numId: null,
            numLevel: null,
            links: [],
          })
          return
        case 'w:pStyle':
          if (paragraph) paragraph.style = styleOf(attribute('val') ?? null)
          return
        case 'w:outlineLvl':
          if (paragraph) paragraph.outlineLevel = Number(attribute('val'))
          return
        case 'w:numId':
          if (paragraph) paragraph.numId = attribute('val') ?? '0'
          return
        case 'w:ilvl':
          if (paragraph) paragraph.numLevel = Number(attribute('val'))
          return
        case 'w:hyperlink':
          return startLink(paragraph, links.get(attribute('id') ?? '') ?? '')
        case 'w:fldSimple':
          return startLink(paragraph, fieldTarget(attribute('instr') ?? ''))
        case 'w:fldChar':
          return markField(attribute('fldCharType'))
        case 'w:instrText':
          inFieldCode = true
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
          return append(wingdingBox(attribute('font'), attribute('char')) ?? symbol(attribute('char')))
      }
    },
    close(name) {
      if (skipDepth > 0) {
        skipDepth -= 1
        return
      }
      if (name === 'w:t' || name === 'm:t') inText = false
      else if (name === 'w:instrText') inFieldCode = false
      else if (name === 'w:hyperlink' || name === 'w:fldSimple') endLink(paragraphs.at(-1))
      else if (name === 'w:p') closeParagraph()
      else {
        formFields.close(name)
        closeTable(name)
      }
    },
    text(text) {
      if (skipDepth > 0) return
      const field = fields.at(-1)
      if (inText) append(text)
      else if (inFieldCode && field?.isCode && field.code.length < maximumFieldCode) field.code += text
    },
    take() {
      const taken = blocks
      blocks = []
      return taken
    },
  }
}

function newTable(): Table {
  return {
    rows: null,
    columns: 0,
    cells: [],
    cell: null,
    span: 1,
    isMerged: false,
    merged: [],
    startsMerge: false,
    gapAfter: 0,
    declaredHeader: false,
  }
}

function emptyCells(count: string | undefined): string[] {
  return Array.from({ length: Math.max(0, Math.min(maximumSpan, Number(count) || 0)) }, () => '')
}

function startLink(paragraph: Paragraph | undefined, target: string) {
  if (paragraph && paragraph.links.length < maximumOpenFields)
    paragraph.links.push({ from: paragraph.text.length, target })
}

/** Writes the address of the innermost open link after its text. */
function endLink(paragraph: Paragraph | undefined) {
  const link = paragraph?.links.pop()
  if (!paragraph || !link) return
  const text = paragraph.text.slice(link.from)
  const target = link.target === '' || text.trim() === '' ? null : linkTarget(link.target, text)
  if (target !== null) paragraph.text = `${paragraph.text.trimEnd()} (${target})`
}

/** The address of a HYPERLINK field; empty for any other field. */
function fieldTarget(code: string): string {
  return /^\s*HYPERLINK\s+"([^"]*)"/i.exec(code)?.[1] ?? ''
}

/** Counts a paragraph of a list and writes the number that Word displays before its text. */
function numberParagraph(paragraph: Paragraph, numbering: DocxNumbering) {
  const { style } = paragraph
  const numId = paragraph.numId ?? style.numId
  if (numId === null || numId === '0' || paragraph.text.trim() === '') return
  const ofStyle = style.ids.map((id) => numbering.levelOfStyle(numId, id)).find((level) => level !== null)
  const number = numbering.next(numId, paragraph.numLevel ?? style.numLevel ?? ofStyle ?? 0)
  if (number !== '') paragraph.text = `${number} ${paragraph.text.trimStart()}`
}

function paragraphBlock(paragraph: Paragraph, notes: 'footnote' | undefined, noteMark: string): ExtractedBlock | null {
  const text = cleanText(paragraph.text)
    .replace(/[^\S\n]+$/gm, '')
    .replace(/^\s*\n|\s+$/g, '')
  if (text.trim() === '') return null
  if (notes) return { kind: notes, text: noteMark + text.trimStart() }
  const { style, outlineLevel, numId } = paragraph
  const numbered = numId === null ? null : numId !== '0'
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
