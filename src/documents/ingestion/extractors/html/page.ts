import { ExtractionError, type ExtractedBlock } from '../../extraction.ts'
import { cleanLine, cleanText } from '../clean-text.ts'
import { maximumBlockCharacters } from '../extractor.ts'
import { endLink, type LinkedText, startLink } from '../link-target.ts'
import { createFormulaSeparator } from './formulas.ts'
import { createChoice, inputText, isBareMarks } from './form-values.ts'
import { isHidden } from './hidden-region.ts'
import { isUnreadPicture } from './pictures.ts'
import { isHidingElement, type PageScope, RegionStack } from './regions.ts'
import { closeCell, closeRow, closeTable, type HtmlTable, newTable, openCell, turnIntoLayout } from './tables.ts'
import { type HtmlAttribute, type HtmlHandler, HtmlTokenizer } from './tokenizer.ts'

/** Most open tables and lists; a deeper page is hostile. */
const maximumDepth = 1_000

/** Pages within pages that are read. */
const maximumFrames = 3

/** Elements that begin and end on their own line. */
const blockElements = new Set(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary table tbody td text tfoot th thead title tr ul xmp'.split(
    ' ',
  ),
)

interface List {
  name: string
  next: number
}

interface PageContext {
  scope: PageScope
  /** Called where the page holds text that a browser does not show. `isRead`: it was read all the same. */
  foundHidden: (isRead: boolean) => void
  /** Called for each picture that is part of the page and large enough to show text, which nothing describes. */
  foundPicture: () => void
  /** Pages around this one, which is the content of a frame. */
  depth?: number
}

/** Reads the tags and texts of a page into blocks. */
export class HtmlPage implements HtmlHandler {
  private readonly context: PageContext
  private readonly regions: RegionStack
  private blocks: ExtractedBlock[] = []
  private paragraph: LinkedText = { text: '', links: [] }
  private readonly tables: HtmlTable[] = []
  private readonly lists: List[] = []
  private level: number | null = null
  private quotes = 0
  private codes = 0
  /** The mark before the next paragraph, which begins an item of a list. */
  private mark = ''
  private hiddenElement: string | null = null
  private choice: ReturnType<typeof createChoice> | null = null
  private readonly formulas = createFormulaSeparator()

  constructor(context: PageContext) {
    this.context = context
    this.regions = new RegionStack(context.scope)
  }

  /** Returns the blocks that are complete by now. */
  take(): ExtractedBlock[] {
    const taken = this.blocks
    this.blocks = []
    return taken
  }

  finish() {
    this.endBlock()
    while (this.tables.length > 0) this.blocks.push(...closeTable(this.tables.pop()!))
  }

  open(name: string, attribute: HtmlAttribute) {
    const wasRead = this.regions.isRead()
    this.regions.open(name, attribute)
    if (name === 'iframe' && wasRead) this.readFrame(attribute)
    this.choice?.open(name, attribute)
    if (!this.regions.isRead()) {
      if (name === 'select' && wasRead && !isHidden(attribute)) this.choice = createChoice()
      return
    }
    if (isHidingElement(name, attribute)) this.hiddenElement ??= name
    if (blockElements.has(name)) this.endBlock()
    this.append(this.formulas.open(name))
    if (name === 'br') this.append('\n')
    else if (name === 'a') startLink(this.target(), attribute('href') ?? '')
    else if (name === 'img') this.readPicture(attribute)
    else if (name === 'input' && !isHidden(attribute)) this.append(` ${inputText(attribute)} `)
    else if (name === 'blockquote') this.quotes += 1
    else if (name === 'pre' || name === 'xmp') this.codes += 1
    else if (/^h[1-6]$/.test(name)) this.openHeading(Number(name[1]))
    else if (name === 'ul' || name === 'ol' || name === 'menu') this.openList(name, attribute)
    else if (name === 'li') this.openItem()
    else this.openTablePart(name, attribute)
  }

  close(name: string) {
    const wasRead = this.regions.isRead()
    this.regions.close(name)
    this.choice?.close(name)
    if (name === 'select') this.choice = null
    if (!wasRead) return
    if (name === this.hiddenElement) this.hiddenElement = null
    if (blockElements.has(name)) this.endBlock()
    this.formulas.close(name)
    if (name === 'a') endLink(this.target())
    else if (name === 'blockquote') this.quotes = Math.max(0, this.quotes - 1)
    else if (name === 'pre' || name === 'xmp') this.codes = Math.max(0, this.codes - 1)
    else if (name === 'li') this.mark = ''
    else if (name === 'ul' || name === 'ol' || name === 'menu') this.lists.pop()
    else this.closeTablePart(name)
  }

  text(text: string) {
    if (!this.regions.isRead()) {
      if (this.choice?.isShown()) this.append(` ${text.replace(/\s+/g, ' ')} `)
      if (this.regions.isHidden() && isWords(text)) this.context.foundHidden(false)
      return
    }
    if (this.hiddenElement && isWords(text)) this.context.foundHidden(true)
    this.append(this.codes > 0 && !this.cell() ? text : text.replace(/[\t\n\f\r ]+/g, ' '))
  }

  private readPicture(attribute: HtmlAttribute) {
    if (isUnreadPicture(attribute)) this.context.foundPicture()
    this.append(` ${attribute('alt') ?? ''} `)
  }

  /** The page that a frame has as its attribute; other frames are never loaded. */
  private readFrame(attribute: HtmlAttribute) {
    const content = attribute('srcdoc') ?? ''
    const { depth = 0 } = this.context
    if (content === '' || isHidden(attribute) || depth === maximumFrames) return
    const page = new HtmlPage({ ...this.context, scope: 'body', depth: depth + 1 })
    const tokenizer = new HtmlTokenizer(page)
    tokenizer.write(content)
    tokenizer.finish()
    page.finish()
    this.endBlock()
    this.blocks.push(...page.take())
  }

  private openHeading(level: number) {
    const cell = this.tables.at(-1)?.cell
    if (cell) cell.level = level
    else this.level = level
  }

  private openList(name: string, attribute: HtmlAttribute) {
    if (this.lists.length >= maximumDepth) throw tooDeep()
    this.lists.push({ name, next: Number.parseInt(attribute('start') ?? '1', 10) || 1 })
  }

  private openItem() {
    const list = this.lists.at(-1)
    this.mark = list?.name === 'ol' ? `${list.next}. ` : '- '
    if (list) list.next += 1
  }

  private openTablePart(name: string, attribute: HtmlAttribute) {
    const table = this.tables.at(-1)
    if (name === 'table') {
      if (this.tables.length >= maximumDepth) throw tooDeep()
      if (table && !table.isLayout && table.cell) this.blocks.push(...turnIntoLayout(table))
      this.tables.push(newTable(/^(?:presentation|none)$/.test(attribute('role') ?? '')))
    } else if (!table) return
    else if (name === 'tr') {
      this.blocks.push(...closeRow(table))
      table.isRowOpen = true
    } else if (name === 'td' || name === 'th') openCell(table, name, attribute)
  }

  private closeTablePart(name: string) {
    const table = this.tables.at(-1)
    if (!table) return
    if (name === 'td' || name === 'th') closeCell(table)
    else if (name === 'tr') this.blocks.push(...closeRow(table))
    else if (name === 'table') this.blocks.push(...closeTable(this.tables.pop()!))
  }

  /** The open cell of a table of data. */
  private cell(): LinkedText | null {
    return this.tables.at(-1)?.cell ?? null
  }

  private target(): LinkedText {
    return this.cell() ?? this.paragraph
  }

  private append(text: string) {
    const target = this.target()
    target.text += text
    if (target === this.paragraph && target.text.length > maximumBlockCharacters) this.endBlock()
    // Each address that is written copies the text before it.
    else if (target.text.length > maximumBlockCharacters) target.links = []
  }

  /** Ends the open paragraph, or a line of the open cell. */
  private endBlock() {
    const cell = this.cell()
    if (cell) {
      cell.text += ' '
      return
    }
    const { paragraph, level } = this
    this.paragraph = { text: '', links: [] }
    this.level = null
    while (paragraph.links.length > 0) endLink(paragraph)
    const text = this.codes > 0 ? codeText(paragraph.text) : plainText(paragraph.text)
    if (text === '' || isBareMarks(text)) return
    const { mark } = this
    this.mark = ''
    if (level !== null) this.blocks.push({ kind: 'heading', level, text: cleanLine(text) })
    else if (mark !== '') this.blocks.push({ kind: 'list_item', text: mark + text })
    else this.blocks.push({ kind: this.codes > 0 ? 'code' : this.quotes > 0 ? 'quote' : 'paragraph', text })
  }
}

function isWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text)
}

function plainText(text: string): string {
  return cleanText(text)
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .join('\n')
    .replace(/\n{2,}/g, '\n')
    .trim()
}

function codeText(text: string): string {
  return cleanText(text)
    .replace(/[^\S\n]+$/gm, '')
    .replace(/^\n+|\n+$/g, '')
}

function tooDeep(): ExtractionError {
  return new ExtractionError(
    'too_complex',
    `The page nests tables or lists deeper than ${maximumDepth} levels. Copy its text into a new document and upload that.`,
  )
}
