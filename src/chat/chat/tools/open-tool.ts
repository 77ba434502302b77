import { z } from 'zod'
import { findDocument } from './find-document.ts'
import { objectSchema, readWith, type Tool } from './tool.ts'

/** Passages of one call: about 3,000 tokens. */
const maximumPassages = 8
const position = z.int().min(0).max(10_000_000).nullish()

/** Reads a document from a place. */
export const openTool: Tool = {
  definition: {
    name: 'open_document',
    description: `Reads up to ${maximumPassages} passages of one uploaded file in order, from its beginning, a page, a row, a heading or a passage. Give at most one place.`,
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
        const from = { place, limit: maximumPassages }
        const found = await dependencies.documents.loadPassages(scope, document.id, from, signal)
        const last = found.at(-1)
        if (!last) return { problem: `The document has no such place. It has ${document.chunks} passages.` }
        return {
          passages: found.map((one) => ({ ...one, score: 0 })),
          note:
            found.length < maximumPassages
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
