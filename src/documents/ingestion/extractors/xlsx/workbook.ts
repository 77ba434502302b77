import { cleanLine } from '../clean-text.ts'
import { type OfficePackage, readRelationships } from '../office-package.ts'
import { readWholeXml } from '../office-xml.ts'
import { createTextReader } from './cell-text.ts'
import { readPeople } from './comments.ts'
import { compileFormat, type NumberFormat, plainNumber } from './number-format.ts'

export interface Workbook {
  sheets: Sheet[]
  /** Names of sheets of other kinds: dialogs, and macros of Excel 4. */
  unread: string[]
  /** Names of those who comment, by their ids. */
  people: ReadonlyMap<string, string>
  /** Texts of cells by number. */
  strings: string[]
  /** How to show numbers, by style. */
  formats: NumberFormat[]
}

export interface Sheet {
  name: string
  part: string
  isHidden: boolean
}

/** Reads all that the sheets share. */
export async function readWorkbook(archive: OfficePackage, part: string): Promise<Workbook> {
  const relationships = await readRelationships(archive, part)
  const targetOf = (type: string) => relationships.find((one) => one.type === type)?.target ?? ''
  const parts = new Map(relationships.map(({ id, type, target }) => [id, { type, target }]))
  const sheets: Sheet[] = []
  const unread: string[] = []
  let date1904 = false
  await readWholeXml(
    archive.read(part),
    {
      open(name, attribute) {
        if (name === 'workbookPr') date1904 = /^(?:1|true|on)$/.test(attribute('date1904') ?? '')
        if (name !== 'sheet') return
        const { type = '', target = '' } = parts.get(attribute('r:id') ?? '') ?? {}
        const title = cleanLine(attribute('name') ?? '')
        const state = attribute('state') ?? 'visible'
        // A sheet without a part is lost.
        if (type !== '' && type !== 'worksheet' && type !== 'chartsheet') unread.push(title)
        else sheets.push({ name: title, part: target, isHidden: state !== 'visible' })
      },
    },
    archive.kind,
  )
  return {
    sheets,
    unread,
    people: await readPeople(archive, targetOf('person')),
    strings: await readStrings(archive, targetOf('sharedStrings')),
    formats: await readFormats(archive, targetOf('styles'), date1904),
  }
}

async function readStrings(archive: OfficePackage, part: string): Promise<string[]> {
  const strings: string[] = []
  const reader = createTextReader()
  await readWholeXml(
    archive.read(part),
    {
      open(name) {
        if (name === 'si') reader.start()
        reader.open(name)
      },
      close(name) {
        reader.close(name)
        if (name === 'si') strings.push(reader.take())
      },
      text: (text) => reader.text(text),
    },
    archive.kind,
  )
  return strings
}

/** Codes of formats without one in the file: ECMA-376 part 1, 18.8.30. Those that depend on the reader's country are unambiguous here. */
const builtInCodes: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '#,##0;-#,##0',
  6: '#,##0;-#,##0',
  7: '#,##0.00;-#,##0.00',
  8: '#,##0.00;-#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0;(#,##0)',
  38: '#,##0;(#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;(#,##0.00)',
  41: '#,##0;(#,##0)',
  42: '#,##0;(#,##0)',
  43: '#,##0.00;(#,##0.00)',
  44: '#,##0.00;(#,##0.00)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  ...Object.fromEntries([...range(27, 36), ...range(50, 58)].map((id) => [id, 'yyyy-mm-dd'])),
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** Most formats that are compiled; Excel allows 64,000 styles, and few codes. */
const maximumFormats = 65_536

async function readFormats(archive: OfficePackage, part: string, date1904: boolean): Promise<NumberFormat[]> {
  const codes = new Map<number, string>()
  const compiled = new Map<string, NumberFormat>()
  const formats: NumberFormat[] = []
  let isInCells = false
  await readWholeXml(
    archive.read(part),
    {
      open(name, attribute) {
        if (name === 'numFmt') codes.set(Number(attribute('numFmtId')), attribute('formatCode') ?? '')
        else if (name === 'cellXfs') isInCells = true
        else if (name === 'xf' && isInCells && formats.length < maximumFormats) {
          const id = Number(attribute('numFmtId') ?? 0)
          const code = codes.get(id) ?? builtInCodes[id] ?? ''
          const format = compiled.get(code) ?? compileFormat(code, date1904)
          compiled.set(code, format)
          formats.push(format)
        }
      },
      close(name) {
        if (name === 'cellXfs') isInCells = false
      },
    },
    archive.kind,
  )
  return formats.length > 0 ? formats : [plainNumber]
}
