/**
 * Counts what docs/understand/structure.md states: `npm run structure [-- FOLDER]`. FOLDER is another checkout, such as one of an earlier
 * version. A production file is one of src/ that is neither a test nor below a folder `testing`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '..'))

/** Longest file that this repository allows itself. */
const maximumLines = 450

/** Parts that the version without wings did not have, as beginnings of paths. */
const later = [
  'src/chat/conversations/own/',
  'src/chat/conversations/rating',
  'src/chat/golden-questions/golden-proposals',
  'src/chat/golden-questions/propose-questions',
  'src/chat/mcp/',
  'src/chat/space-tools/',
  'src/chat/visitors/',
  'src/console/health',
  'src/console/installation',
  'src/console/visitor-page',
  'src/contract/alerts',
  'src/contract/answer-ratings',
  'src/contract/console-health',
  'src/contract/gateway-v2',
  'src/contract/golden-proposals',
  'src/contract/installation-usage',
  'src/contract/metadata-filter',
  'src/contract/own-chats',
  'src/contract/quick-reader',
  'src/contract/semantic-search',
  'src/contract/site',
  'src/contract/space-tools',
  'src/contract/web-sources',
  'src/documents/documents/web-sources/',
  'src/documents/ingestion/extractors/eml/',
  'src/documents/ingestion/extractors/html/',
  'src/documents/ingestion/extractors/image/',
  'src/documents/ingestion/extractors/office-charts',
  'src/documents/ingestion/extractors/pptx/',
  'src/documents/ingestion/extractors/xlsx/',
  'src/documents/ingestion/ocr/',
  'src/documents/retrieval/corpus/vector-checks',
  'src/documents/retrieval/engines/lance/',
  'src/documents/retrieval/semantic-search/',
  'src/documents/retrieval/vector-check',
  'src/gateway/apis/',
  'src/gateway/billing/installation-usage',
  'src/gateway/conversation/',
  'src/gateway/providers/openai/responses/',
  'src/gateway/routing/deployment-history',
  'src/platform/database/server/replica',
  'src/platform/language/english-synonyms',
  'src/platform/language/german-synonyms',
  'src/platform/language/synonyms',
  'src/tenants/accounts/single-sign-on-setup',
  'src/tenants/accounts/single-sign-on.routes',
  'src/tenants/alerts/',
]

const sources = filesBelow('src')
const production = sources.filter((file) => file.endsWith('.ts') && !isTest(file))
const lines = production.map((file) => linesOf(file)).sort((left, right) => left - right)
const pages = filesBelow('docs').filter((file) => file.endsWith('.md'))
const composition = production.filter((file) =>
  /^src\/(?:service(?:\.ts$|\/)|app\/(?:compose|routes|service|parts\/))/.test(file),
)

const rows: [string, number | string][] = [
  ['folders directly below src/', entriesOf('src').filter((entry) => entry.isDirectory()).length],
  ['production files directly in src/', production.filter((file) => !file.slice('src/'.length).includes('/')).length],
  ['folders with an index.ts', sources.filter((file) => file.endsWith('/index.ts')).length],
  ['production files', production.length],
  ['production lines', sum(lines)],
  [
    'of them, without parts that came later',
    sum(production.filter((file) => !later.some((part) => file.startsWith(part))).map(linesOf)),
  ],
  ['lines of the median file', lines[Math.floor(lines.length / 2)] ?? 0],
  ['lines of the longest file', lines.at(-1) ?? 0],
  [`files above ${maximumLines} lines`, lines.filter((count) => count > maximumLines).length],
  ['spreads in the composition', sum(composition.map((file) => spreadsOf(textOf(file))))],
  ['decisions', pages.filter((file) => /^docs\/decisions\/\d/.test(file)).length],
  ['pages of documentation', pages.length],
  ['lines of the longest page that is not generated', longest(pages.filter((file) => !isGenerated(file)))],
]
for (const [name, count] of rows) console.log(`${name.padEnd(50)}${String(count).padStart(8)}`)

function filesBelow(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
}

function entriesOf(folder: string) {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.includes('/testing/')
}

function isGenerated(file: string): boolean {
  return /^docs\/(?:reference|configuration|licences|conformance)/.test(file)
}

function textOf(file: string): string {
  return readFileSync(path.join(root, file), 'utf8')
}

function linesOf(file: string): number {
  return textOf(file).split('\n').length - 1
}

function longest(files: readonly string[]): number {
  return Math.max(...files.map(linesOf))
}

/** Spreads of an object by its name: `{ ...parts, clock }`. */
function spreadsOf(text: string): number {
  return text.match(/\.\.\.\w+(?:,| })/g)?.length ?? 0
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
