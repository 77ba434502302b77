import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { type DocumentContext, objectSchema, readWith, type Tool, type ToolProblem } from './tool.ts'
import type { Passage, SpaceDocument } from '../../../documents/retrieval/index.ts'

/** The arguments by which tools select documents. */

const maximumNameLength = 300
const maximumFields = 10

export const documentFilter = {
  name: z.string().trim().max(maximumNameLength).nullish(),
  metadata: z
    .record(z.string().max(maximumNameLength), z.union([z.string().max(maximumNameLength), z.number(), z.boolean()]))
    .refine((fields) => Object.keys(fields).length <= maximumFields, {
      error: `must have at most ${maximumFields} fields`,
    })
    .transform((fields) => Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, String(value)])))
    .nullish(),
}

export const filterProperties = {
  name: { type: 'string', description: 'Only documents whose name contains this text.' },
  metadata: {
    type: 'object',
    description: 'Only documents with these values in their metadata, for example {"department": "sales"}.',
  },
}

const pageSize = 50
const maximumMetadataLength = 300

/** The documents of the Space, a page at a time. */
export const listTool: Tool = {
  definition: {
    name: 'list_documents',
    description: `Lists the uploaded files of this Space by name, ${pageSize} at a time, with id, format, size and metadata.`,
    parameters: objectSchema({
      ...filterProperties,
      offset: { type: 'integer', description: 'Number of documents to skip; default 0.' },
    }),
  },
  source: 'DOCUMENT_LIST',
  status: 'RETRIEVED',
  read: readWith(
    z.strictObject({ ...documentFilter, offset: z.int().min(0).max(1_000_000).nullish() }),
    ({ name, metadata, offset }) => ({
      query: [name, metadata && JSON.stringify(metadata)].filter(Boolean).join(' ') || 'all documents',
      async run({ dependencies: { documents }, scope, signal }) {
        const from = offset ?? 0
        const selection = { limit: pageSize, offset: from, ...(name && { name }), ...(metadata && { metadata }) }
        const page = await documents.loadDocuments(scope, selection, signal)
        const lines = page.documents.map(({ id, name: title, format, pages, chunks, metadata: fields }) => {
          const size = pages === null ? `${chunks} passages` : `${pages} pages`
          const described =
            fields === null ? '' : `  ${JSON.stringify(fields).slice(0, maximumMetadataLength).toWellFormed()}`
          return `${id}  ${title.replaceAll(/\s+/g, ' ')}  (${format}, ${size})${described}`
        })
        const last = from + lines.length
        return {
          passages: [],
          quoted: lines.join('\n'),
          count: lines.length,
          note:
            lines.length === 0
              ? 'No document matches.'
              : `Documents ${from + 1} to ${last}${lines.length < pageSize ? '' : `; continue with offset ${last}`}. ${page.total} match in all.`,
        }
      },
    }),
  ),
}

/** Passages of one call: about 3,000 tokens. */
const passagesOfPlace = 8
const position = z.int().min(0).max(10_000_000).nullish()

/** Reads a document from a place. */
export const openTool: Tool = {
  definition: {
    name: 'open_document',
    description: `Reads up to ${passagesOfPlace} passages of one uploaded file in order, from its beginning, a page, a row, a heading or a passage. Give at most one place.`,
    parameters: objectSchema(
      {
        document: { type: 'string', description: 'Name or id of the file.' },
        page: { type: 'integer', description: 'Page of a pdf, from 1.' },
        row: { type: 'integer', description: 'Row of a table, from 1.' },
        heading: { type: 'string', description: 'Part of a heading.' },
        passage: { type: 'integer', description: 'Number of the passage in the file, from 0: to read on.' },
      },
      ['document'],
    ),
  },
  source: 'DOCUMENT',
  status: 'RETRIEVED',
  read: readWith(
    z
      .strictObject({
        document: z.string().trim().min(1).max(300),
        page: position,
        row: position,
        heading: z.string().trim().min(1).max(300).nullish(),
        passage: position,
      })
      .refine(({ page, row, heading, passage }) => [page, row, heading, passage].filter(isGiven).length <= 1, {
        error: 'must have at most one of `page`, `row`, `heading` and `passage`',
      }),
    ({ document: wanted, page, row, heading, passage }) => ({
      query: [wanted, page && `page ${page}`, row && `row ${row}`, heading].filter(Boolean).join(', '),
      async run(context) {
        const document = await findDocument(context, wanted)
        if ('problem' in document) return document
        const { dependencies, scope, signal } = context
        const place = isGiven(page)
          ? { page }
          : isGiven(row)
            ? { row }
            : isGiven(heading)
              ? { heading }
              : { chunk: passage ?? 0 }
        const from = { place, limit: passagesOfPlace }
        const found = await dependencies.documents.loadPassages(scope, document.id, from, signal)
        const last = found.at(-1)
        if (!last) return { problem: `The document has no such place. It has ${document.chunks} passages.` }
        return {
          passages: found.map((one) => ({ ...one, score: 0 })),
          note:
            found.length < passagesOfPlace
              ? 'The document ends here.'
              : `The document continues; read on with passage ${last.chunkIndex + 1}.`,
        }
      },
    }),
  ),
}

/** Models send null for arguments that they leave out. */
function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined
}

const passagesWithText = 6
const maximumTextLength = 200
/** Chunks that one call reads, and chunks of one statement: about 20 MB and 300 kB of text. */
const maximumScannedChunks = 15_000
const batchChunks = 200

/** Looks for a text in a document. The text is no pattern, so that a call costs time linear in the document. */
export const findTool: Tool = {
  definition: {
    name: 'find_in_document',
    description:
      'Finds the passages of one uploaded file that contain a text, without regard to case and spacing. Use it for exact words, names and numbers.',
    parameters: objectSchema(
      {
        document: { type: 'string', description: 'Name or id of the file.' },
        text: { type: 'string', description: 'The exact words; not a pattern.' },
      },
      ['document', 'text'],
    ),
  },
  source: 'DOCUMENT_FIND',
  status: 'RETRIEVED',
  read: readWith(
    z.strictObject({
      document: z.string().trim().min(1).max(300),
      text: z.string().trim().min(1).max(maximumTextLength),
    }),
    ({ document: wanted, text }) => ({
      query: text,
      async run(context) {
        const document = await findDocument(context, wanted)
        if ('problem' in document) return document
        const { first, count, isComplete } = await scan(context, document.id, foldText(text))
        const { dependencies, scope, signal } = context
        const loaded = await dependencies.documents.loadByIds(scope, first, signal)
        const passages: Passage[] = loaded
          .toSorted((left, right) => left.chunkIndex - right.chunkIndex)
          .map((one) => ({ ...one, score: 0 }))
        const end = isComplete ? '' : ` Only the first ${maximumScannedChunks} passages of the document were read.`
        return { passages, note: `${count} passages contain the text; ${passages.length} of them follow.${end}` }
      },
    }),
  ),
}

async function scan(
  { dependencies: { documents }, scope, signal }: DocumentContext,
  documentId: string,
  wanted: string,
) {
  const first: string[] = []
  let count = 0
  for (let from = 0; from < maximumScannedChunks; from += batchChunks) {
    const chunks = await documents.loadTexts(scope, documentId, { from, limit: batchChunks }, signal)
    for (const { chunkId, text } of chunks) {
      if (!foldText(text).includes(wanted)) continue
      count += 1
      if (first.length < passagesWithText) first.push(chunkId)
    }
    if (chunks.length < batchChunks) return { first, count, isComplete: true }
    await nextTurn()
  }
  return { first, count, isComplete: false }
}

const foldText = (text: string) => text.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ')

/** Candidates that are named where a name is not unique. */
const maximumCandidates = 10
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The document of the Space with this id or name; a part of the name is enough where only one document has it. */
export async function findDocument(
  { dependencies: { documents }, scope, signal }: DocumentContext,
  given: string,
): Promise<SpaceDocument | ToolProblem> {
  if (uuid.test(given)) {
    const byId = await documents.loadDocuments(scope, { id: given, limit: 1 }, signal)
    if (byId.documents[0]) return byId.documents[0]
  }
  // A name that contains many others comes first in the order of names.
  const byName = await documents.loadDocuments(scope, { name: given, limit: 100 }, signal)
  const exact = byName.documents.filter((document) => foldName(document.name) === foldName(given))
  if (exact.length === 1) return exact[0]!
  if (byName.total === 1) return byName.documents[0]!
  if (byName.total === 0)
    return { problem: 'There is no document with this name or id. list_documents shows all of them.' }
  return {
    problem: 'Several documents match. Use the id of one of them.',
    quoted: (exact.length > 0 ? exact : byName.documents)
      .slice(0, maximumCandidates)
      .map(({ id, name }) => `${id}  ${name}`)
      .join('\n'),
  }
}

const foldName = (name: string) => name.normalize('NFC').toLowerCase()
