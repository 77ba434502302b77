import type { ExtractedBlock } from '../../extraction.ts'
import { cleanLine } from '../clean-text.ts'
import { endLink, startLink } from '../link-target.ts'
import { createFormulaReader } from '../office-math.ts'
import type { Attribute, XmlHandler } from '../office-xml.ts'
import { createDocxFormFields } from './form-fields.ts'
import type { DocxNumbering } from './numbering.ts'
import {
  createPictureFinder,
  drawingDescription,
  type FoundPicture,
  pictureDescription,
} from '../picture-description.ts'
import type { DeletedReferences } from './deleted-references.ts'
import type { NoteMarks } from './note-marks.ts'
import { isPageNumber, pageNumberMark, withoutPageNumbers } from './page-numbers.ts'
import { newParagraph, numberParagraph, paragraphBlock, type Paragraph, type PartRole } from './paragraph.ts'
import type { ParagraphStyle } from './styles.ts'
import { textOfSymbol } from './symbols.ts'
import { TableStack } from './table-stack.ts'

/** A chart or diagram, by the relationship to its part. */
export interface EmbeddedPart {
  relationshipId: string
}

/** A comment at its place. */
interface CommentReference {
  commentId: string
}

/** A file whose text is a part of the document, at its place. */
export interface InsertedFile {
  insertedId: string
}

interface PlacedPicture {
  picture: FoundPicture
}

/** A file of another program, by the relationship to it. */
interface EmbeddedObject {
  objectId: string
}

type PlacedPart = EmbeddedPart | CommentReference | PlacedPicture | EmbeddedObject
export type DocxPiece = ExtractedBlock | PlacedPart | InsertedFile

/** Elements that are left out: deleted and moved-away revisions, field codes. */
const skipped = new Set(['w:del', 'w:moveFrom', 'w:delText', 'w:delInstrText', 'w:rPrChange', 'w:pPrChange'])

/** Text of the document, of its formulas, and of drawings that other programs have made. */
const textElements = new Set(['w:t', 'm:t', 't'])

/** A field between its begin and end marks. */
interface Field {
  code: string
  isCode: boolean
}

/** Longest field code that is read; only addresses matter. */
const maximumFieldCode = 4_000
const maximumOpenFields = 100
/** A word can be an initial too. */
const maximumInitial = 20
interface DocxContext {
  styleOf: (id: string | null) => ParagraphStyle
  numbering: DocxNumbering
  /** Addresses by relationship id. */
  links: Map<string, string>
  role: PartRole
  /** Notes and comments of text whose deletion is tracked. */
  deleted: DeletedReferences
  noteMarks: NoteMarks
  /** Called where the file holds text that Word does not show. */
  foundHidden: () => void
}

/** Reads the elements of a document, footnotes or endnotes part into blocks. */
export class DocxBody implements XmlHandler {
  private readonly context: DocxContext
  private pieces: DocxPiece[] = []
  /** Of the open paragraphs. */
  private embedded: PlacedPart[] = []
  private readonly paragraphs: Paragraph[] = []
  private readonly tables = new TableStack()
  private readonly fields: Field[] = []
  private readonly formFields = createDocxFormFields((text) => this.append(text))
  private readonly formulas = createFormulaReader((text) => this.append(text))
  private skipDepth = 0
  private isDeleted = false
  private inText = false
  private inFieldCode = false
  /** The text of the current run is not shown; null outside of a run. */
  private hidesRun: boolean | null = null
  private noteMark = ''
  /** Text of the last paragraph that belongs to the next one. */
  private initial = ''
  private readonly pictures = createPictureFinder((picture) => this.embedded.push({ picture }))
  /** The drawing around is described as a whole. */
  private isDescribed = false

  constructor(context: DocxContext) {
    this.context = context
  }

  /** Returns what is complete by now. */
  take(): DocxPiece[] {
    const taken = this.pieces
    this.pieces = []
    return taken
  }

  /** Pictures outside of paragraphs, and first letters that no paragraph follows. Call it at the end. */
  takeRest(): DocxPiece[] {
    const pictures = this.embedded.filter((part) => 'picture' in part)
    return this.initial === '' ? pictures : [{ kind: 'paragraph', text: this.initial }, ...pictures]
  }

  open(name: string, attribute: Attribute) {
    if (this.skipDepth > 0 || skipped.has(name) || this.context.deleted.has(name, attribute)) {
      if (this.skipDepth === 0) this.isDeleted = name === 'w:del'
      this.skipDepth += 1
      if (this.isDeleted) this.context.deleted.add(name, attribute)
      return
    }
    this.tables.open(name, attribute)
    this.formFields.open(name, attribute)
    this.pictures.open(name, attribute)
    this.formulas.open(name, attribute)
    if (name === 'w:r') this.hidesRun = false
    else if (name === 'w:p') this.paragraphs.push(newParagraph(this.context.styleOf(null)))
    else if (textElements.has(name)) this.inText = true
    else if (name === 'w:instrText') this.inFieldCode = true
    else if (name === 'w:fldChar') this.markField(attribute('fldCharType'))
    else if (name === 'chart') this.embed(attribute('r:id'))
    else if (name === 'relIds') this.embed(attribute('dm'))
    else if (name === 'OLEObject') this.embedded.push({ objectId: attribute('r:id') ?? '' })
    else if (name === 'w:altChunk') this.pieces.push({ insertedId: attribute('r:id') ?? '' })
    else if (name === 'docPr' || name === 'cNvPr') this.describeDrawing(name, attribute)
    else if (name === 'shape') this.describe(pictureDescription(attribute('alt')))
    else if (name === 'textpath') this.describe(attribute('string') ?? '')
    else if (name === 'w:commentReference') this.embedded.push({ commentId: attribute('id') ?? '' })
    else if (name === 'w:footnote' || name === 'w:endnote') this.noteMark = `${this.markOfNote(name, attribute)} `
    else if (name === 'w:footnoteReference' || name === 'w:endnoteReference')
      this.append(this.markOfNote(name, attribute))
    else {
      const text = textOfElement(name, attribute)
      if (text !== null) this.append(text)
      else if (this.hidesRun !== null && isHiding(name, attribute)) this.hidesRun = true
      else if (this.paragraphs.length > 0) this.setProperty(this.paragraphs.at(-1)!, name, attribute)
    }
  }

  close(name: string) {
    if (this.skipDepth > 0) {
      this.skipDepth -= 1
      return
    }
    this.pictures.close(name)
    this.formulas.close(name)
    if (textElements.has(name)) this.inText = false
    // A paragraph of a drawing.
    else if (name === 'p') this.append(' ')
    else if (name === 'w:r') this.hidesRun = null
    else if (name === 'w:instrText') this.inFieldCode = false
    else if (name === 'w:hyperlink' || name === 'w:fldSimple') endLink(this.paragraphs.at(-1))
    else if (name === 'w:p') this.closeParagraph()
    else {
      this.formFields.close(name)
      this.pieces.push(...this.tables.close(name))
    }
  }

  text(text: string) {
    if (this.skipDepth > 0) return
    const field = this.fields.at(-1)
    if (this.hidesRun && this.inText && /[\p{L}\p{N}]/u.test(text)) this.context.foundHidden()
    if (this.inText) this.append(text)
    else if (this.inFieldCode && field?.isCode && field.code.length < maximumFieldCode) field.code += text
  }

  private append(text: string) {
    if (this.formulas.take(text)) return
    const paragraph = this.paragraphs.at(-1)
    if (paragraph) paragraph.text += text
  }

  /** Words of a picture, apart from the text around it. */
  private describe(text: string) {
    const paragraph = this.paragraphs.at(-1)
    if (paragraph && text !== '') paragraph.text += `${paragraph.text === '' ? '' : ' '}${text} `
  }

  /** A drawing, or a picture or shape of one that is not described as a whole. */
  private describeDrawing(name: string, attribute: Attribute) {
    const text = drawingDescription(attribute)
    if (name === 'docPr') this.isDescribed = text !== ''
    if (name === 'docPr' || !this.isDescribed) this.describe(text)
  }

  private markOfNote(name: string, attribute: Attribute): string {
    return this.context.noteMarks(name, attribute('id') ?? '')
  }

  private embed(relationshipId: string | undefined) {
    if (relationshipId !== undefined) this.embedded.push({ relationshipId })
  }

  /** Properties and links of a paragraph. */
  private setProperty(paragraph: Paragraph, name: string, attribute: Attribute) {
    switch (name) {
      case 'w:pStyle':
        paragraph.style = this.context.styleOf(attribute('val') ?? null)
        return
      case 'w:outlineLvl':
        paragraph.outlineLevel = Number(attribute('val'))
        return
      case 'w:numId':
        paragraph.numId = attribute('val') ?? '0'
        return
      case 'w:ilvl':
        paragraph.numLevel = Number(attribute('val'))
        return
      case 'w:framePr':
        paragraph.isInitial = /^(?:drop|margin)$/.test(attribute('dropCap') ?? '')
        return
      case 'w:hyperlink':
        return startLink(paragraph, this.context.links.get(attribute('id') ?? '') ?? '')
      case 'w:fldSimple':
        this.markPageNumber(attribute('instr') ?? '')
        return startLink(paragraph, fieldTarget(attribute('instr') ?? ''))
    }
  }

  private markField(type: string | undefined) {
    if (type === 'begin') {
      if (this.fields.length < maximumOpenFields) this.fields.push({ code: '', isCode: true })
      return
    }
    const field = this.fields.at(-1)
    if (!field) return
    if (type === 'separate') {
      field.isCode = false
      this.markPageNumber(field.code)
      startLink(this.paragraphs.at(-1), fieldTarget(field.code))
    } else if (type === 'end') {
      this.fields.pop()
      if (field.isCode) this.append(shownCode(field.code))
      else endLink(this.paragraphs.at(-1))
      // The result of a field that is part of another one's code is not the beginning of that one's result.
      if (this.fields.at(-1)?.isCode) this.append(' ')
    }
  }

  private markPageNumber(fieldCode: string) {
    if (this.context.role === 'running' && isPageNumber(fieldCode)) this.append(pageNumberMark)
  }

  private closeParagraph() {
    const paragraph = this.paragraphs.pop()
    if (!paragraph) return
    while (paragraph.links.length > 0) endLink(paragraph)
    if (this.context.role === 'running') paragraph.text = withoutPageNumbers(paragraph.text)
    paragraph.text = this.initial + paragraph.text
    this.initial = ''
    if (paragraph.isInitial && paragraph.text.trim().length <= maximumInitial) {
      this.initial = paragraph.text.trim()
      return
    }
    numberParagraph(paragraph, this.context.numbering)
    // Behind the paragraph; within a table, before its next rows.
    const { embedded } = this
    this.embedded = []
    const cell = this.tables.cell()
    if (cell) {
      this.pieces.push(...embedded)
      const text = cleanLine(paragraph.text)
      if (text !== '') cell.push(text)
      return
    }
    const block = paragraphBlock(paragraph, this.context.role, this.noteMark)
    if (block) this.noteMark = ''
    this.pieces.push(...(block ? [block] : []), ...embedded)
  }
}

/** Half points; smaller text cannot be read on paper or screen. */
const smallestSize = 4

/** True for the property of a run that makes its text invisible. */
function isHiding(name: string, attribute: Attribute): boolean {
  const value = attribute('val')
  if (name === 'w:vanish') return value === undefined || !['0', 'false', 'off'].includes(value)
  return name === 'w:sz' && value !== undefined && Number(value) < smallestSize
}

/** The text that an element without content stands for; null for other elements. */
function textOfElement(name: string, attribute: Attribute): string | null {
  switch (name) {
    case 'w:tab':
    case 'w:ptab':
      return '\t'
    case 'w:br':
    case 'w:cr':
      return '\n'
    case 'w:noBreakHyphen':
      return '-'
    case 'w:sym':
      return textOfSymbol(attribute('font'), attribute('char'))
    default:
      return null
  }
}

/** What Word shows of a field without a stored result: the text of a button, or the parts of a formula (ECMA-376 part 1, 17.16.5). */
function shownCode(code: string): string {
  const button = /^\s*(?:MACROBUTTON|GOTOBUTTON)\s+\S+\s+(.*)$/is.exec(code)?.[1]
  if (button !== undefined) return button.trim()
  if (!/^\s*EQ\s/i.test(code)) return ''
  return code
    .replace(/^\s*EQ\s/i, '')
    .replace(/\\\*\s{0,9}(?:"[^"]{0,100}"|\S+)/g, ' ')
    .replace(/\\[a-z]+\d*(?:\s{1,9}\d+)?/gi, ' ')
    .replace(/[\\(),;]+/g, ' ')
    .trim()
}

/** The address of a HYPERLINK field; empty for any other field. */
function fieldTarget(code: string): string {
  return /^\s*HYPERLINK\s+"([^"]*)"/i.exec(code)?.[1] ?? ''
}
