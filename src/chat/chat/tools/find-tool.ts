import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import type { Passage } from '../../../documents/retrieval/index.ts'
import { findDocument } from './find-document.ts'
import { objectSchema, readWith, type DocumentContext, type Tool } from './tool.ts'

const maximumPassages = 6
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
        const { first, count, isComplete } = await scan(context, document.id, fold(text))
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
      if (!fold(text).includes(wanted)) continue
      count += 1
      if (first.length < maximumPassages) first.push(chunkId)
    }
    if (chunks.length < batchChunks) return { first, count, isComplete: true }
    await nextTurn()
  }
  return { first, count, isComplete: false }
}

const fold = (text: string) => text.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ')
