import { crc32, deflateRawSync, deflateSync } from 'node:zlib'

/** Builders of small and of hostile documents for tests: what people should not keep in a repository as binaries. */

export interface ZipEntry {
  name: string
  content: string | Buffer
  /** Written into the headers instead of the true size. */
  claimedSize?: number
  flags?: number
}

/** A zip archive with deflated entries. */
export function buildZip(entries: ZipEntry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content, claimedSize, flags = 0 } of entries) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const size = claimedSize ?? bytes.length
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt16LE(flags, 6)
    local.writeUInt16LE(8, 8)
    local.writeUInt32LE(crc32(bytes), 14)
    local.writeUInt32LE(packed.length, 18)
    local.writeUInt32LE(size, 22)
    local.writeUInt16LE(name.length, 26)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    local.copy(central, 6, 4, 30)
    central.writeUInt32LE(offset, 42)
    parts.push(local, Buffer.from(name), packed)
    directory.push(central, Buffer.from(name))
    offset += local.length + name.length + packed.length
  }
  const index = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(index.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, index, end])
}

const wordNamespace = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'

/** A docx whose body is the given WordprocessingML; `parts` adds or replaces parts. */
export function buildDocx(body: string, parts: Record<string, string | Buffer> = {}): Buffer {
  const document = `<?xml version="1.0"?><w:document xmlns:w="${wordNamespace}"><w:body>${body}</w:body></w:document>`
  const relationships =
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
  const all = { '_rels/.rels': relationships, 'word/document.xml': document, ...parts }
  return buildZip(Object.entries(all).map(([name, content]) => ({ name, content })))
}

/** A sheet of a built workbook: its rows of cells in SpreadsheetML, and what follows them. */
export interface BuiltSheet {
  name: string
  rows: string
  after?: string
  state?: string
}

/** An xlsx with these sheets; `shared` are the shared strings, `styles` the content of its style sheet, `parts` further parts. */
export function buildXlsx(
  sheets: BuiltSheet[],
  { shared = [], styles = '', parts = {}, properties = '' }: XlsxParts = {},
): Buffer {
  const namespace = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
  const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const named = sheets.map(
    ({ name, state = 'visible' }, index) =>
      `<sheet name="${name}" sheetId="${index + 7}" state="${state}" r:id="s${index}"/>`,
  )
  const relationships = sheets.map(
    (_, index) => `<Relationship Id="s${index}" Type="${types}/worksheet" Target="worksheets/${index}.xml"/>`,
  )
  const relationshipsPart = (content: string) =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${content}</Relationships>`
  const all: Record<string, string | Buffer> = {
    '_rels/.rels': relationshipsPart(`<Relationship Id="r" Type="${types}/officeDocument" Target="/xl/workbook.xml"/>`),
    'xl/workbook.xml': `<workbook xmlns="${namespace}" xmlns:r="${types}"><workbookPr ${properties}/><sheets>${named.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationshipsPart(
      `${relationships.join('')}<Relationship Id="t" Type="${types}/sharedStrings" Target="strings.xml"/><Relationship Id="y" Type="${types}/styles" Target="styles.xml"/>`,
    ),
    'xl/strings.xml': `<sst xmlns="${namespace}">${shared.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
    'xl/styles.xml': `<styleSheet xmlns="${namespace}">${styles}</styleSheet>`,
    ...Object.fromEntries(
      sheets.map(({ rows, after = '' }, index) => [
        `xl/worksheets/${index}.xml`,
        `<worksheet xmlns="${namespace}"><sheetData>${rows}</sheetData>${after}</worksheet>`,
      ]),
    ),
    ...parts,
  }
  return buildZip(Object.entries(all).map(([name, content]) => ({ name, content })))
}

interface XlsxParts {
  shared?: string[]
  styles?: string
  parts?: Record<string, string | Buffer>
  /** Attributes of the workbook. */
  properties?: string
}

/** Rows of inline texts, with numbers as numbers. */
export function sheetRows(rows: (string | number)[][], first = 1): string {
  const cell = (value: string | number) =>
    typeof value === 'number' ? `<c><v>${value}</v></c>` : `<c t="inlineStr"><is><t>${value}</t></is></c>`
  return rows.map((cells, index) => `<row r="${index + first}">${cells.map(cell).join('')}</row>`).join('')
}

/** A slide of a built presentation: its shapes in PresentationML, those of its notes, and addresses by relationship id. */
export interface BuiltSlide {
  content: string
  notes?: string
  attributes?: string
  links?: Record<string, string>
}

/** A pptx with these slides. */
export function buildPptx(slides: BuiltSlide[], parts: Record<string, string | Buffer> = {}): Buffer {
  const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const namespaces = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="${types}"`
  const relationships = (list: string[]) =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list.join('')}</Relationships>`
  const relationship = (id: string, type: string, target: string, more = '') =>
    `<Relationship Id="${id}" Type="${types}/${type}" Target="${target}" ${more}/>`
  const page = (element: string, content: string, attributes = '') =>
    `<p:${element} ${namespaces} ${attributes}><p:cSld><p:spTree>${content}</p:spTree></p:cSld></p:${element}>`
  const all: Record<string, string> = {
    '_rels/.rels': relationships([relationship('r', 'officeDocument', 'ppt/presentation.xml')]),
    // The parts are named in another order than the slides.
    'ppt/_rels/presentation.xml.rels': relationships(
      slides.map((_, index) => relationship(`s${index}`, 'slide', `slides/${slides.length - index}.xml`)),
    ),
    'ppt/presentation.xml': `<p:presentation ${namespaces}><p:sldIdLst>${slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="s${index}"/>`).join('')}</p:sldIdLst></p:presentation>`,
  }
  for (const [index, { content, notes, attributes, links = {} }] of slides.entries()) {
    const name = `${slides.length - index}.xml`
    all[`ppt/slides/${name}`] = page('sld', content, attributes)
    all[`ppt/slides/_rels/${name}.rels`] = relationships([
      ...Object.entries(links).map(([id, target]) => relationship(id, 'hyperlink', target, 'TargetMode="External"')),
      ...(notes ? [relationship('n', 'notesSlide', `../notes/${name}`)] : []),
    ])
    if (notes) all[`ppt/notes/${name}`] = page('notes', notes)
  }
  return buildZip(Object.entries({ ...all, ...parts }).map(([name, content]) => ({ name, content })))
}

/** A paragraph of WordprocessingML; `properties` is the content of its w:pPr. */
export function docxParagraph(text: string, properties = ''): string {
  return `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
}

export function wordPart(element: string, content: string): string {
  return `<?xml version="1.0"?><w:${element} xmlns:w="${wordNamespace}">${content}</w:${element}>`
}

export interface PdfObject {
  /** The dictionary between `obj` and the stream or `endobj`. A stream's length and filter are added. */
  dictionary: string
  stream?: string | Buffer
  /** The stream as it is stored, packed by deflate. */
  packed?: Buffer
}

/** A pdf of numbered objects, the first of them the catalogue, with a right cross-reference table. */
export function buildPdf(objects: PdfObject[], trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let offset = parts[0]!.length
  const push = (bytes: Buffer) => {
    parts.push(bytes)
    offset += bytes.length
  }
  for (const [
    index,
    { dictionary, stream, packed = stream === undefined ? undefined : deflateSync(stream) },
  ] of objects.entries()) {
    offsets.push(offset)
    if (packed === undefined) push(Buffer.from(`${index + 1} 0 obj\n${dictionary}\nendobj\n`))
    else {
      const head = dictionary.replace(/>>\s*$/, `/Length ${packed.length} /Filter /FlateDecode >>`)
      push(
        Buffer.concat([
          Buffer.from(`${index + 1} 0 obj\n${head}\nstream\n`),
          packed,
          Buffer.from('\nendstream\nendobj\n'),
        ]),
      )
    }
  }
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${offset}\n%%EOF\n`,
    ),
  )
  return Buffer.concat(parts)
}

/** A text on a pdf page, its baseline at x and y (1/72 inch from the lower left corner). */
export interface PdfText {
  text: string
  x: number
  y: number
  size?: number
  bold?: boolean
  /** Quarter turns against the clock. */
  turns?: number
}

/** A pdf of pages in Helvetica; texts are drawn in the order given. */
export function buildTextPdf(pages: { texts: PdfText[]; rotate?: number }[]): Buffer {
  const kids = pages.map((_, index) => `${5 + index * 2} 0 R`).join(' ')
  return buildPdf([
    { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
    { dictionary: `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>` },
    { dictionary: '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>' },
    { dictionary: '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>' },
    ...pages.flatMap(({ texts, rotate = 0 }, index) => [
      {
        dictionary: `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate ${rotate} /Contents ${6 + index * 2} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>`,
      },
      { dictionary: '<< >>', stream: Buffer.from(texts.map(drawText).join('\n'), 'latin1') },
    ]),
  ])
}

function drawText({ text, x, y, size = 10, bold = false, turns = 0 }: PdfText): string {
  const matrix = ['1 0 0 1', '0 1 -1 0', '-1 0 0 -1', '0 -1 1 0'][turns % 4]
  return `BT /${bold ? 'F2' : 'F1'} ${size} Tf ${matrix} ${x} ${y} Tm (${text.replace(/[\\()]/g, '\\$&')}) Tj ET`
}

/**
 * Glyphs that one operator shows from left to right; each glyph carries the text that its font assigns to it, and an empty one leaves its
 * place free. A run without glyphs draws a blank.
 */
export interface GlyphRun {
  glyphs: string[]
  x: number
  y: number
  size?: number
}

/** Runs of which the file states what they stand for together (`ActualText`). */
export interface StatedRuns {
  stated: string
  runs: GlyphRun[]
}

/**
 * A pdf whose font maps glyphs to any text, as producers of scripts other than Latin write it. Every glyph is half as wide as it is
 * high.
 */
export function buildGlyphPdf(pages: (GlyphRun | StatedRuns)[][]): Buffer {
  const runsOf = (item: GlyphRun | StatedRuns) => ('runs' in item ? item.runs : [item])
  const glyphs = [...new Set(pages.flatMap((runs) => runs.flatMap(runsOf).flatMap((run) => run.glyphs)))].filter(
    (glyph) => glyph !== '',
  )
  const code = (glyph: string) => (glyphs.indexOf(glyph) + 0x30).toString(16).padStart(2, '0')
  const mappings = glyphs.map((glyph) => `<${code(glyph)}> <${Buffer.from(glyph, 'utf16le').swap16().toString('hex')}>`)
  const toUnicode = `begincmap\n1 begincodespacerange <00> <ff> endcodespacerange\n${mappings.length} beginbfchar\n${mappings.join('\n')}\nendbfchar\nendcmap`
  const widths = `/FirstChar 0 /LastChar 255 /Widths [${Array.from({ length: 256 }, () => 500).join(' ')}]`
  const kids = pages.map((_, index) => `${5 + index * 2} 0 R`).join(' ')
  const show = ({ glyphs: shown, x, y, size = 10 }: GlyphRun) =>
    `BT /F1 ${size} Tf 1 0 0 1 ${x} ${y} Tm [<${shown.length === 0 ? '20' : shown.map((glyph) => (glyph === '' ? '> -500 <' : code(glyph))).join('')}>] TJ ET`
  const hex = (text: string) => `feff${Buffer.from(text, 'utf16le').swap16().toString('hex')}`
  const draw = (item: GlyphRun | StatedRuns) =>
    'runs' in item
      ? `/Span << /ActualText <${hex(item.stated)}> >> BDC\n${item.runs.map(show).join('\n')}\nEMC`
      : show(item)
  return buildPdf([
    { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
    { dictionary: `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>` },
    { dictionary: `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica ${widths} /ToUnicode 4 0 R >>` },
    { dictionary: '<< >>', stream: toUnicode },
    ...pages.flatMap((runs, index) => [
      {
        dictionary: `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${6 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      },
      { dictionary: '<< >>', stream: runs.map(draw).join('\n') },
    ]),
  ])
}
