import { z } from 'zod'
import { type SqlValue, type TableDescription, type TableFile } from '../../../documents/ingestion/index.ts'
import { readingOf } from '../../../documents/documents/index.ts'
import { createUuid } from '../../../platform/kernel/index.ts'
import type { Passage, SpaceDocument } from '../../../documents/retrieval/index.ts'
import { findDocument } from './document-tools.ts'
import { type DocumentContext, objectSchema, readWith, type Tool, type ToolProblem } from './tool.ts'
import { tokenize } from '../../../platform/language/index.ts'
import type { ShownPassage } from '../context/prompt.ts'

/** Documents of one statement. */
const maximumDocuments = 4
/** Longest statement, UTF-16 units. */
const maximumSqlLength = 3_500
/** Rows of each description, in bytes: enough to see what the columns hold. */
const sampleBytes = 1_500

type Column = TableDescription['columns'][number]

const documents = z.array(z.string().trim().min(1).max(300)).min(1).max(maximumDocuments)
const documentsProperty = {
  type: 'array',
  items: { type: 'string' },
  description: `Names or ids of up to ${maximumDocuments} files with tables. Their tables are t1, t2, … in this order.`,
}

/** Names, columns and first rows of the tables of documents. */
export const describeTablesTool: Tool = {
  definition: {
    name: 'describe_tables',
    description:
      'Shows the tables of uploaded files (csv, pdf, docx, md): names, columns, types and first rows for query_tables.',
    parameters: objectSchema({ documents: documentsProperty }, ['documents']),
  },
  source: 'TABLES',
  status: 'RETRIEVED',
  read: readWith(z.strictObject({ documents }), ({ documents: wanted }) => ({
    query: wanted.join(', '),
    async run(context) {
      const found = await findAll(context, wanted)
      if ('problem' in found) return found
      const maximumRowBytes = sampleBytes * found.documents.length
      const request = { ...requestOf(context, found.documents), words: [], maximumRowBytes }
      const described = await context.dependencies.tables.describe(request)
      return 'problem' in described ? described : { passages: describePassages(described.tables, found.documents) }
    },
  })),
}

/** A SELECT statement over the tables of documents. */
export const queryTablesTool: Tool = {
  definition: {
    name: 'query_tables',
    description:
      'Runs one SELECT statement of SQLite over the tables of uploaded files, to count, sum, compare, filter and sort rows exactly. Call describe_tables first. Columns have numbers, dates (YYYY-MM-DD), times or 1 and 0 where nearly all cells are; NAME_text has the cell as the file has it. row_number is the row in the file.',
    parameters: objectSchema(
      { documents: documentsProperty, sql: { type: 'string', description: 'One SELECT statement.' } },
      ['documents', 'sql'],
    ),
  },
  source: 'TABLE_QUERY',
  status: 'COMPUTED',
  read: readWith(
    z.strictObject({ documents, sql: z.string().trim().min(1).max(maximumSqlLength) }),
    ({ documents: wanted, sql }) => ({
      query: sql,
      async run(context) {
        const found = await findAll(context, wanted)
        if ('problem' in found) return found
        const result = await context.dependencies.tables.query({ ...requestOf(context, found.documents), sql })
        if ('problem' in result) return result
        const { columns, rows, isCut } = result
        return {
          passages: [
            toPassage(found.documents[0]!, {
              place: `result of ${sql}`,
              header: renderRow(columns),
              text: rows.length === 0 ? '(no rows)' : rows.map(renderRow).join('\n'),
            }),
          ],
          note: isCut
            ? `The result has more rows than these ${rows.length}. Aggregate or filter.`
            : `${rows.length} rows.`,
          count: rows.length,
        }
      },
    }),
  ),
}

async function findAll(
  context: DocumentContext,
  wanted: readonly string[],
): Promise<{ documents: SpaceDocument[] } | ToolProblem> {
  const found: SpaceDocument[] = []
  for (const name of wanted) {
    const document = await findDocument(context, name)
    if ('problem' in document) return document
    if (!found.some(({ id }) => id === document.id)) found.push(document)
  }
  return { documents: found }
}

/** A new version of a document has another key. */
const keyOf = ({ id, version }: SpaceDocument) => `${id} ${version}`

/** A request for the tables of these documents. */
export function requestOf({ scope, signal }: DocumentContext, found: readonly SpaceDocument[]) {
  const files: TableFile[] = found.map((document) => ({
    key: keyOf(document),
    name: document.name,
    format: document.format,
    sizeBytes: document.sizeBytes,
    ...readingOf(document),
    blobKey: document.blobKey,
  }))
  return { organisationId: scope.organisationId, spaceId: scope.spaceId, files, signal }
}

/** One passage for each table: its columns and some of its rows. */
export function describePassages(tables: readonly TableDescription[], documents: readonly SpaceDocument[]): Passage[] {
  return tables.map(({ name, documentKey, title, rowCount, columns, rows }) => {
    const document = documents.find((one) => keyOf(one) === documentKey)!
    const listed = columns.map(describeColumn)
    const shown = rows.length === rowCount ? 'All rows' : `${rows.length} of its rows`
    const text = [
      `Table ${name}${title === null ? '' : ` (${title})`}: ${rowCount} rows. Columns: ${listed.join(', ')}. ${shown}:`,
      renderRow(columns.map((column) => column.name)),
      ...rows.map(renderRow),
    ]
    return toPassage(document, { place: `table ${name}`, header: null, text: text.join('\n') })
  })
}

const typeNames: Partial<Record<Column['kind'], string>> = { date: 'DATE', time: 'TIME', boolean: 'BOOLEAN' }

/** `Revenue REAL ("Revenue (USD)"; in $)`. */
function describeColumn({ name, type, kind, note, header }: Column): string {
  const facts = [
    ...(header === null || header === name ? [] : [JSON.stringify(header)]),
    ...(note === '' ? [] : [note]),
  ]
  return `${name} ${typeNames[kind] ?? type}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}`
}

const renderRow = (values: readonly SqlValue[]) => values.map((value) => value ?? '').join(' | ')

/** A passage that was computed from all of a document. */
function toPassage(
  { id, name, url, characters }: SpaceDocument,
  { place, header, text }: { place: string; header: string | null; text: string },
): Passage {
  return {
    chunkId: createUuid(),
    documentId: id,
    documentName: name,
    url,
    text,
    headingPath: [place],
    tableHeader: header,
    // Not a part of the document's text.
    chunkIndex: -1,
    pageFrom: null,
    pageTo: null,
    pageStarts: null,
    characterFrom: 0,
    characterTo: characters,
    rowFrom: null,
    rowTo: null,
    score: 0,
  }
}

/** Documents whose tables are described before the first call of the model, and bytes of their rows. */
const matchedDocuments = 3
const matchedRowBytes = 6_000
/** After this the answer begins without tables. */
const maximumMs = 5_000
/** Words of a question that choose rows. */
const maximumWords = 60

/**
 * The tables of the first documents of a search that have rows: their columns, and the rows that share most words with the question.
 * A table that fits is there whole. It spares the model a round of calls, and shows it the exact names of columns. Fewer or none where it fails.
 */
export async function matchTables(
  context: DocumentContext,
  found: readonly ShownPassage[],
  question: string,
): Promise<Passage[]> {
  const { dependencies, scope } = context
  const ids = [...new Set(found.filter(hasRows).map(({ documentId }) => documentId))].slice(0, matchedDocuments)
  const words = tokenize(question, { singleCharacters: false }).slice(0, maximumWords)
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(maximumMs)])
  const bounded = { ...context, signal }
  const described: Passage[] = []
  try {
    // One after the other: each Space has one process in the usual case.
    for (const id of ids) {
      const { documents } = await dependencies.documents.loadDocuments(scope, { id, limit: 1 }, signal)
      described.push(...(await describeMatched(bounded, documents, words, Math.floor(matchedRowBytes / ids.length))))
    }
  } catch {
    context.signal.throwIfAborted()
  }
  return described
}

async function describeMatched(
  context: DocumentContext,
  documents: SpaceDocument[],
  words: string[],
  maximumRowBytes: number,
) {
  if (documents.length === 0) return []
  const request = { ...requestOf(context, documents), words, maximumRowBytes }
  const described = await context.dependencies.tables.describe(request)
  return 'problem' in described ? [] : describePassages(described.tables, documents)
}

const hasRows = ({ tableHeader, rowFrom }: ShownPassage) => tableHeader !== null || rowFrom !== null
