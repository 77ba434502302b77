import { ExtractionError, type ExtractedBlock } from '../extraction.ts'
import { cleanLine } from './clean-text.ts'
import type { ExtractionReport } from './extractor.ts'
import type { OfficePackage, Relationship } from './office-package.ts'
import { type Attribute, readXml, type XmlHandler } from './office-xml.ts'
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
}

interface Chart {
  /** Of the chart, then of its axes. */
  titles: string[]
  series: Series[]
}

type Field = 'name' | 'categories' | 'values'

/** Elements of a series, and what they hold. */
const fields: Readonly<Record<string, Field>> = {
  tx: 'name',
  cat: 'categories',
  xVal: 'categories',
  val: 'values',
  yVal: 'values',
}

const caches = new Set(['numCache', 'numLit', 'strCache', 'strLit', 'multiLvlStrCache'])

/** Reads a chart part (ECMA-376 part 1, 21.2): titles, and the values that the program stored when it drew the chart. */
class ChartReader implements XmlHandler {
  private readonly titles: string[] = []
  private readonly series: Series[] = []
  private current: Series | null = null
  private field: Field | null = null
  private title: string | null = null
  private point = 0
  private points = 0
  /** Of the numbers that are read; null for texts. */
  private format: NumberFormat | null = null
  private isFormat = false
  private collected: string | null = null

  finish(): Chart {
    return { titles: this.titles, series: this.series }
  }

  open(name: string, attribute: Attribute) {
    if (name === 'title') this.title = ''
    else if (name === 'ser') this.series.push((this.current = { name: '', categories: new Map(), values: new Map() }))
    else if (caches.has(name)) this.format = name.startsWith('num') ? compileFormat('', false) : null
    else if (name === 'pt') this.point = Number(attribute('idx')) || 0
    else if (name === 'v' || name === 't' || name === 'formatCode') {
      this.collected = ''
      this.isFormat = name === 'formatCode'
    } else if (this.current && this.title === null && Object.hasOwn(fields, name)) this.field = fields[name]!
  }

  close(name: string) {
    if (name === 'title') {
      const title = cleanLine(this.title ?? '')
      if (title !== '') this.titles.push(title)
      this.title = null
    } else if (name === 'ser') this.current = null
    else if (name === 'p' && this.title !== null) this.title += ' '
    else if (this.field !== null && fields[name] === this.field) this.field = null
    else if (this.collected !== null && (name === 'v' || name === 't' || name === 'formatCode')) {
      const text = this.collected
      this.collected = null
      if (this.isFormat) this.format &&= compileFormat(text, false)
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
    if (!this.current || !this.field || !isValue) return
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
    const points = new Set(group.flatMap(({ categories, values }) => [...categories.keys(), ...values.keys()]))
    const table = createTableBlocks()
    blocks.push(...table.addRow(['', ...group.map(({ name }) => name)], true))
    for (const point of [...points].toSorted((one, other) => one - other)) {
      const category = group[0]!.categories.get(point) ?? ''
      blocks.push(...table.addRow([category, ...group.map(({ values }) => values.get(point) ?? '')], false))
    }
    blocks.push(...table.end())
  }
  return blocks
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
  return chart ? chartBlocks(chart) : []
}
