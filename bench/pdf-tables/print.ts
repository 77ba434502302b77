import { chromium, type Browser } from 'playwright-core'
import { chromiumOptions } from '../../test/harness/chromium.ts'
import type { TableCase } from './cases.ts'

/** Prints html to pdf files with Chromium: a producer that has nothing in common with the code that is measured. */
export async function openPrinter(): Promise<{ print(html: string, file: string): Promise<void> } & AsyncDisposable> {
  const browser: Browser = await chromium.launch(chromiumOptions)
  const page = await browser.newPage()
  return {
    async print(html, file) {
      await page.setContent(html)
      await page.pdf({
        path: file,
        format: 'A4',
        printBackground: true,
        margin: { top: '20mm', bottom: '20mm', left: '20mm', right: '20mm' },
      })
    },
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

const commonStyle = `body { font: 10pt Helvetica, Arial, sans-serif } table { border-collapse: collapse; margin: 8pt 0 }
  td, th { padding: 2pt 6pt; text-align: left; vertical-align: top } .number { text-align: right }`

const layoutStyles: Record<TableCase['layout'], string> = {
  ruled: 'td, th { border: 0.75pt solid black }',
  'ruled, open sides':
    'td, th { border: 0.75pt solid black } td:first-child, th:first-child { border-left: none } td:last-child, th:last-child { border-right: none }',
  'lines between columns':
    'table { border: 0.75pt solid black } thead { border-bottom: 0.75pt solid black } td, th { border-left: 0.75pt solid black }',
  'rules below rows': 'tr { border-bottom: 0.5pt solid black }',
  'rule below header':
    'table { border-top: 1pt solid black; border-bottom: 1pt solid black } thead { border-bottom: 0.5pt solid black }',
  striped: 'tbody tr:nth-child(odd) { background: #dde } th { background: #bbc }',
  'no lines, bold header': '',
  'no lines, plain header': 'th { font-weight: normal }',
  'no lines, wrapped cells': 'table { width: 300pt } td, th { padding: 4pt 6pt }',
  'ruled, wrapped cells': 'table { width: 280pt; table-layout: fixed } td, th { border: 0.75pt solid black }',
  'two-column page':
    'body { columns: 2; font-size: 8pt; text-align: justify } td, th { padding: 1pt 5pt } table { break-inside: avoid; width: 100% } thead { border-bottom: 0.5pt solid black }',
  'several pages, ruled': 'thead { display: table-row-group } td, th { border: 0.75pt solid black; padding: 4pt 6pt }',
  'several pages, no lines': 'td, th { padding: 4pt 6pt }',
  'merged heads, ruled': 'td, th { border: 0.75pt solid black }',
  'merged heads, no lines': 'th { text-align: center }',
}

export function tableHtml({ title, layout, header, rows }: TableCase, prose: string[]): string {
  const isNumeric = rows[0]!.map((_, column) => {
    const cells = rows.map((row) => row[column]!).filter((cell) => cell !== '')
    return cells.length > 0 && cells.every((cell) => /^[^\p{L}]*\d[^\p{L}]*$/u.test(cell))
  })
  const cell = (text: string, column: number) => `<td${isNumeric[column] ? ' class="number"' : ''}>${escape(text)}</td>`
  const head = header
    .map((row) => {
      let column = 0
      const names = row.map(({ text, span }) => {
        const mark = span === 1 && isNumeric[column] ? ' class="number"' : ''
        column += span
        return `<th colspan="${span}"${mark}>${escape(text)}</th>`
      })
      return `<tr>${names.join('')}</tr>`
    })
    .join('')
  const body = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('')
  const [before = '', after = ''] = prose
  return `<!doctype html><style>${commonStyle} ${layoutStyles[layout]}</style><h1>${escape(title)}</h1><p>${escape(before)}</p>
    <table><thead>${head}</thead><tbody>${body}</tbody></table><p>${escape(after)}</p>`
}

/** Paragraphs in one column or in two, justified, as reports and papers are set. */
export function proseHtml(title: string, paragraphs: string[], columns: 1 | 2): string {
  const body = paragraphs.map((text) => `<p>${escape(text)}</p>`).join('')
  return `<!doctype html><style>${commonStyle} body { columns: ${columns}; text-align: justify }</style><h1>${escape(title)}</h1>${body}`
}

export function pageHtml(title: string, body: string): string {
  return `<!doctype html><style>${commonStyle}</style><h1>${escape(title)}</h1>${body}`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
