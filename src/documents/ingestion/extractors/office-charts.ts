import { ExtractionError, type ExtractedBlock } from '../extraction.ts'
import { cleanLine } from './clean-text.ts'
import type { ExtractionReport } from './extractor.ts'
import { type OfficePackage, readRelationships, type Relationship } from './office-package.ts'
import { type Attribute, readXml, type XmlHandler } from './office-xml.ts'
import { readShapes } from './pptx/slide.ts'
import { createTableBlocks } from './table-blocks.ts'
import { compileFormat, type NumberFormat } from './xlsx/number-format.ts'

/** Most values that are read of one chart; its titles are read in any case. */
const maximumPoints = 20_000
/** Longest title, name or value. */
const maximumCharacters = 4_000

interface Series {
  name: string
  /** Texts by the number of the point. */
  categories: Map<number, string>
  values: Map<number, string>
  /** Sizes of bubbles, and labels that are more than the value. */
  extras: Map<number, string>
  /** What repeats no cells of the file: it is typed into the chart, or of another file. */
  typed: Set<Field>
}

interface Chart {
  /** Of the chart, then of its axes. */
  titles: string[]
  /** Labels of points that a person has typed. */
  labels: string[]
  series: Series[]
  /** It has more values than are read. */
  isCut: boolean
}

type Field = 'name' | 'categories' | 'values' | 'extras'

/** Elements of a series, and what they hold. */
const fields: Readonly<Record<string, Field>> = {
  tx: 'name',
  cat: 'categories',
  xVal: 'categories',
  val: 'values',
  yVal: 'values',
  bubbleSize: 'extras',
  datalabelsRange: 'extras',
}

const caches = new Set(['numCache', 'numLit', 'strCache', 'strLit', 'multiLvlStrCache', 'dlblRangeCache'])
const references = new Set(['numRef', 'strRef', 'multiLvlStrRef'])
const collectedElements = new Set(['v', 't', 'f', 'formatCode'])

/** Reads a chart part (ECMA-376 part 1, 21.2): titles, and the values that the program stored when it drew the chart. */
class ChartReader implements XmlHandler {
  private readonly titles: string[] = []
  private readonly series: Series[] = []
  private current: Series | null = null
  private field: Field | null = null
  /** What is read repeats cells of the file. */
  private repeatsCells = false
  private title: string | null = null
  private readonly labels: string[] = []
  /** Of the open point. */
  private label: { point: number; text: string } | null = null
  /** A part of a label that repeats a value. */
  private isPlaceholder = false
  private point = 0
  private points = 0
  /** Of the numbers that are read; null for texts. */
  private format: NumberFormat | null = null
  private isFormat = false
  private collected: string | null = null

  finish(): Chart {
    const { titles, labels, series, points } = this
    return { titles, labels, series, isCut: points > maximumPoints }
  }

  open(name: string, attribute: Attribute) {
    if (name === 'title') this.title = ''
    else if (name === 'ser') this.series.push((this.current = newSeries()))
    else if (name === 'dLbl') this.label = { point: 0, text: '' }
    else if (name === 'idx' && this.label) this.label.point = Number(attribute('val')) || 0
    else if (name === 'fld') this.isPlaceholder = true
    else if (caches.has(name)) this.format = name.startsWith('num') ? compileFormat('', false) : null
    else if (name === 'pt') this.point = Number(attribute('idx')) || 0
    else if (references.has(name)) this.repeatsCells = true
    else if (collectedElements.has(name)) {
      this.collected = ''
      this.isFormat = name === 'formatCode'
    } else if (this.current && this.title === null && !this.label && Object.hasOwn(fields, name))
      this.field = fields[name]!
  }

  close(name: string) {
    if (name === 'title') {
      const title = cleanLine(this.title ?? '')
      if (title !== '') this.titles.push(title)
      this.title = null
    } else if (name === 'ser') this.current = null
    else if (name === 'fld') this.isPlaceholder = false
    else if (name === 'dLbl') this.closeLabel()
    else if (name === 'p' && this.title !== null) this.title += ' '
    else if (this.field !== null && fields[name] === this.field) this.field = null
    else if (references.has(name)) this.repeatsCells = false
    else if (this.collected !== null && collectedElements.has(name)) {
      const text = this.collected
      this.collected = null
      // Cells of another file have its number in brackets; LibreOffice writes typed names as formulas.
      if (name === 'f') this.repeatsCells &&= !text.includes('[') && !text.startsWith('"')
      else if (this.isFormat) this.format &&= compileFormat(text, false)
      else this.add(text, name === 'v')
    }
  }

  text(text: string) {
    if (this.collected !== null && this.collected.length < maximumCharacters) this.collected += text
  }

  private add(text: string, isValue: boolean) {
    if (this.title !== null) {
      if (this.title.length < maximumCharacters) this.title += text
      return
    }
    if (this.label && !isValue) {
      if (!this.isPlaceholder && this.label.text.length < maximumCharacters) this.label.text += text
      return
    }
    if (!this.current || !this.field || !isValue) return
    if (!this.repeatsCells) this.current.typed.add(this.field)
    if (this.field === 'name') {
      this.current.name = cleanLine(`${this.current.name} ${text}`)
      return
    }
    if (++this.points > maximumPoints) return
    const number = this.format && text.trim() !== '' ? Number(text) : Number.NaN
    const points = this.current[this.field]
    // Categories of several levels: the outer ones follow.
    const former = this.field === 'categories' ? points.get(this.point) : undefined
    const shown = cleanLine(this.format && Number.isFinite(number) ? this.format(number) : text)
    points.set(this.point, former === undefined ? shown : `${shown}, ${former}`)
  }

  private closeLabel() {
    const text = cleanLine(this.label?.text ?? '')
    if (this.label && text !== '' && ++this.points <= maximumPoints) {
      this.labels.push(text)
      this.current?.extras.set(this.label.point, text)
    }
    this.label = null
  }
}

function newSeries(): Series {
  return { name: '', categories: new Map(), values: new Map(), extras: new Map(), typed: new Set() }
}

/** The titles and series of a chart part; null if it cannot be read, or is a chart of another kind. */
export async function readChart(archive: OfficePackage, part: string): Promise<Chart | null> {
  const reader = new ChartReader()
  try {
    for await (const _ of readXml(archive.read(part), reader, archive.kind));
  } catch (error) {
    if (error instanceof ExtractionError && error.code === 'corrupt_file') return null
    throw error
  }
  const chart = reader.finish()
  return chart.titles.length === 0 && chart.series.length === 0 ? null : chart
}

/** Titles as a paragraph, and a table with a column for each series. */
function chartBlocks({ titles: [title, ...axes], series }: Chart): ExtractedBlock[] {
  const texts = [title, axes.join(', ')].filter((text) => text !== undefined && text !== '')
  const blocks = texts.map((text): ExtractedBlock => ({ kind: 'paragraph', text: text! }))
  for (const group of groupByCategories(series)) {
    const points = new Set(
      group.flatMap(({ categories, values, extras }) => [...categories.keys(), ...values.keys(), ...extras.keys()]),
    )
    const table = createTableBlocks()
    blocks.push(...table.addRow(['', ...group.map(({ name }) => name)], true))
    for (const point of [...points].toSorted((one, other) => one - other)) {
      const category = group[0]!.categories.get(point) ?? ''
      blocks.push(...table.addRow([category, ...group.map((one) => shownValue(one, point))], false))
    }
    blocks.push(...table.end())
  }
  return blocks
}

function shownValue({ values, extras }: Series, point: number): string {
  const value = values.get(point) ?? ''
  const extra = extras.get(point) ?? ''
  return extra === '' || extra === value ? value : `${value} (${extra})`.trim()
}

/** Neighbouring series with the same categories. */
function groupByCategories(series: readonly Series[]): Series[][] {
  const groups: { key: string; series: Series[] }[] = []
  for (const one of series) {
    const key = JSON.stringify([...one.categories])
    const last = groups.at(-1)
    if (last?.key === key) last.series.push(one)
    else groups.push({ key, series: [one] })
  }
  return groups.map((group) => group.series)
}

/** The titles, labels, names and values of a chart that the cells of its workbook do not have. */
export function typedChartBlocks({ titles, labels, series }: Chart): ExtractedBlock[] {
  const hasValues = ({ typed }: Series) => typed.has('values') || typed.has('extras')
  const names = series.flatMap((one) => (one.typed.has('name') && !hasValues(one) ? [one.name] : []))
  const texts = [...titles, ...labels, ...names]
  const line: ExtractedBlock[] = texts.length > 0 ? [{ kind: 'paragraph', text: texts.join(', ') }] : []
  return [...line, ...chartBlocks({ titles: [], labels: [], series: series.filter(hasValues), isCut: false })]
}

/** The texts of the shapes that are drawn on a chart. */
export async function readChartShapes(archive: OfficePackage, part: string): Promise<ExtractedBlock[]> {
  const blocks: ExtractedBlock[] = []
  for (const { type, target, isExternal } of await readRelationships(archive, part))
    if (type === 'chartUserShapes' && !isExternal) blocks.push(...(await readShapes(archive, target)).blocks)
  return blocks
}

/** The blocks of the chart that a relationship names; a warning if its values cannot be read. */
export async function readChartBlocks(
  archive: OfficePackage,
  named: Relationship | undefined,
  report: ExtractionReport,
  pages?: number[],
): Promise<ExtractedBlock[]> {
  const chart = named && !named.isExternal ? await readChart(archive, named.target) : null
  // Charts of newer kinds, such as waterfalls, have another form (`chartEx`), of which only the titles are read.
  if (named?.type !== 'chart' || !chart?.series.some(({ values }) => values.size > 0))
    report.warn({
      code: 'embedded_content_skipped',
      message: 'The values of charts were not read. Where they matter, write them into the document as text.',
      ...(pages ? { pages } : {}),
    })
  if (!chart || !named) return []
  if (chart.isCut)
    report.warn({
      code: 'truncated',
      message: 'Charts have too many values; some were not read.',
      ...(pages ? { pages } : {}),
    })
  return [...chartBlocks(chart), ...(await readChartShapes(archive, named.target))]
}
