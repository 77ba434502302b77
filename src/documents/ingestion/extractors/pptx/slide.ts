import type { ExtractedBlock } from '../../extraction.ts'
import { cleanLine, cleanText } from '../clean-text.ts'
import { maximumBlockCharacters } from '../extractor.ts'
import { endLink, type LinkedText, startLink } from '../link-target.ts'
import { createFormulaReader } from '../office-math.ts'
import type { OfficePackage } from '../office-package.ts'
import { type Attribute, readXml, type XmlHandler } from '../office-xml.ts'
import { createPictureFinder, drawingDescription, type FoundPicture } from '../picture-description.ts'
import { createTableBlocks, type TableBlocks } from '../table-blocks.ts'

export interface SlideText {
  title: string
  isHidden: boolean
  /** Files of other programs, such as spreadsheets, by the relationships to them. */
  objects: string[]
  /** It has a control (ActiveX), whose value is no text of the slide. */
  hasControl: boolean
  /** The shapes of its layout or master are shown too. */
  showsMaster: boolean
  pictures: FoundPicture[]
  blocks: ExtractedBlock[]
}

interface SlideContext {
  /** Addresses by relationship id. */
  links: ReadonlyMap<string, string>
  /**
   * Of a page of notes, the picture of the slide, number, date and footers are no notes. Of a layout or master, slides show what is no
   * place for their texts.
   */
  kind: 'slide' | 'notes' | 'layout'
}

/** Reads the texts of a slide, or of a drawing or diagram in another document. An absent part has none. */
export async function readShapes(
  archive: OfficePackage,
  part: string,
  { links = new Map(), kind = 'slide' }: Partial<SlideContext> = {},
): Promise<SlideText> {
  const reader = new SlideReader({ links, kind })
  for await (const _ of readXml(archive.read(part), reader, archive.kind));
  return reader.finish()
}

interface Paragraph extends LinkedText {
  isItem: boolean
  hasLink: boolean
}

interface Table {
  blocks: TableBlocks
  hasHeader: boolean
  cells: string[]
  cell: { texts: string[]; isCovered: boolean; continues: boolean } | null
  /** Texts of cells above, by column. */
  above: string[]
}

/**
 * Reads the elements of a slide. The title comes first; the other shapes are in the order of the file, which is the one in which screen
 * readers read them.
 */
class SlideReader implements XmlHandler {
  private readonly context: SlideContext
  private readonly blocks: ExtractedBlock[] = []
  private readonly titles: string[] = []
  private isHidden = false
  private readonly objects: string[] = []
  private hasControl = false
  private showsMaster = true
  private readonly pictures: FoundPicture[] = []
  private readonly finder = createPictureFinder((picture) => this.pictures.push(picture))
  private readonly formulas = createFormulaReader((text) => this.append(text))
  private place: string | null = null
  private paragraph: Paragraph | null = null
  private table: Table | null = null
  private inText = false

  constructor(context: SlideContext) {
    this.context = context
  }

  finish(): SlideText {
    const { isHidden, objects, hasControl, showsMaster, pictures, blocks } = this
    return { title: this.titles.join(' '), isHidden, objects, hasControl, showsMaster, pictures, blocks }
  }

  open(name: string, attribute: Attribute) {
    this.finder.open(name, attribute)
    this.formulas.open(name, attribute)
    switch (name) {
      case 'sld':
      case 'sldLayout':
        this.isHidden = isFalse(attribute('show'))
        this.showsMaster = !isFalse(attribute('showMasterSp'))
        return
      case 'sp':
        this.place = null
        return
      case 'cNvPr':
        this.describe(drawingDescription(attribute))
        return
      case 'oleObj':
        this.objects.push(attribute('r:id') ?? '')
        return
      case 'control':
        this.hasControl = true
        return
      case 'ph':
        this.place = attribute('type') ?? 'obj'
        return
      case 'p':
        this.paragraph = { text: '', links: [], isItem: false, hasLink: false }
        return
      case 't':
      case 'm:t':
        this.inText = true
        return
      case 'br':
        if (this.paragraph) this.paragraph.text += '\n'
        return
      default:
        if (this.paragraph) this.openInParagraph(this.paragraph, name, attribute)
        else this.openInTable(name, attribute)
    }
  }

  close(name: string) {
    this.finder.close(name)
    this.formulas.close(name)
    if (name === 't' || name === 'm:t') this.inText = false
    else if (name === 'p') this.closeParagraph()
    else if (name === 'r' && this.paragraph?.hasLink) {
      this.paragraph.hasLink = false
      endLink(this.paragraph)
    } else if (this.table) this.closeInTable(this.table, name)
  }

  text(text: string) {
    if (this.inText) this.append(text)
  }

  private append(text: string) {
    if (this.paragraph && !this.formulas.take(text)) this.paragraph.text += text
  }

  /** The alternative text of a picture or shape. */
  private describe(text: string) {
    if (text !== '') this.blocks.push({ kind: 'paragraph', text })
  }

  private openInParagraph(paragraph: Paragraph, name: string, attribute: Attribute) {
    if (name === 'pPr') paragraph.isItem = Number(attribute('lvl') ?? 0) > 0
    else if (name === 'buChar' || name === 'buAutoNum') paragraph.isItem = true
    else if (name === 'buNone') paragraph.isItem = false
    else if (name === 'hlinkClick' && !paragraph.hasLink && paragraph.text.length < maximumBlockCharacters) {
      paragraph.hasLink = true
      startLink(paragraph, this.context.links.get(attribute('r:id') ?? '') ?? '')
    }
  }

  private openInTable(name: string, attribute: Attribute) {
    if (name === 'tbl') this.table = { blocks: createTableBlocks(), hasHeader: false, cells: [], cell: null, above: [] }
    const { table } = this
    if (!table) return
    if (name === 'tblPr') table.hasHeader = isTrue(attribute('firstRow'))
    else if (name === 'tr') table.cells = []
    else if (name === 'tc') {
      table.cell = { texts: [], isCovered: isTrue(attribute('hMerge')), continues: isTrue(attribute('vMerge')) }
    }
  }

  private closeInTable(table: Table, name: string) {
    if (name === 'tc' && table.cell) {
      const { texts, isCovered, continues } = table.cell
      const column = table.cells.length
      // Each row is read alone, so the text of a merged cell is repeated in each of its rows.
      const text = isCovered ? '' : continues ? (table.above[column] ?? '') : texts.join(' ')
      table.above[column] = text
      table.cells.push(text)
      table.cell = null
    } else if (name === 'tr') this.blocks.push(...table.blocks.addRow(table.cells, table.hasHeader))
    else if (name === 'tbl') {
      this.blocks.push(...table.blocks.end())
      this.table = null
    }
  }

  private closeParagraph() {
    const { paragraph, place } = this
    this.paragraph = null
    this.inText = false
    if (!paragraph || this.isLeftOut()) return
    while (paragraph.links.length > 0) endLink(paragraph)
    const text = cleanText(paragraph.text)
      .replace(/[^\S\n]+/g, ' ')
      .replace(/ ?\n ?/g, '\n')
      .trim()
    if (text === '') return
    if (this.table?.cell) this.table.cell.texts.push(cleanLine(text))
    else if (place === 'title' || place === 'ctrTitle') this.titles.push(cleanLine(text))
    else if (paragraph.isItem) this.blocks.push({ kind: 'list_item', text: `- ${text}` })
    else this.blocks.push({ kind: 'paragraph', text })
  }

  /** Numbers of slides, what frames a page of notes, and the places of a layout. */
  private isLeftOut(): boolean {
    if (this.table || this.place === null) return false
    const { kind } = this.context
    return kind === 'layout' || this.place === 'sldNum' || (kind === 'notes' && this.place !== 'body')
  }
}

function isFalse(value: string | undefined): boolean {
  return value === '0' || value === 'false'
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true'
}
