import { z } from 'zod'
import { searchSpace } from '../find-passages.ts'
import { documentFilter, filterProperties } from './document-tools.ts'
import { objectSchema, readWith, type Tool, type ToolContext, type ToolResult } from './tool.ts'

/** Longest query, UTF-16 units; a longer one is cut. */
const maximumQueryLength = 1_000
/** Documents that a filter may select; a search reads their terms from the database. */
const maximumFilteredDocuments = 500
/** Most passages that a search looks for beyond its own because the model has them. */
const mostGiven = 50

/** A search in the Space's own files. */
export const searchTool: Tool = {
  definition: {
    name: 'search_uploaded_files',
    description:
      'Searches the uploaded files of this Space by meaning and words. Call it when the passages at hand do not answer the question. It returns only passages that you do not have yet.',
    parameters: objectSchema(
      { query: { type: 'string', description: 'What to look for, in a few words.' }, ...filterProperties },
      ['query'],
    ),
  },
  source: 'UPLOADED_FILES',
  status: 'RETRIEVED',
  read: readWith(z.strictObject({ query: z.string().trim().min(1), ...documentFilter }), (given) => {
    const { name, metadata } = given
    const query = given.query.slice(0, maximumQueryLength)
    return {
      query,
      async run(context) {
        const { dependencies, scope, signal } = context
        if (!name && !metadata) return searchNew(context, query)
        const selection = {
          limit: maximumFilteredDocuments,
          ...(name && { name }),
          ...(metadata && { metadata }),
        }
        const selected = await dependencies.documents.loadDocuments(scope, selection, signal)
        if (selected.total === 0) return { problem: 'No document has this name and metadata.' }
        if (selected.total > maximumFilteredDocuments) {
          return {
            problem: `${selected.total} documents match; at most ${maximumFilteredDocuments} can be searched with a filter. Narrow it, or search without it.`,
          }
        }
        const documentIds = selected.documents.map(({ id }) => id)
        return searchNew(context, query, documentIds)
      },
    }
  }),
}

/** The best passages that the model has not received: a search like the one before leads further. Of the others it learns the numbers. */
async function searchNew(
  { dependencies: { retrieval }, call, given, signal }: ToolContext,
  text: string,
  documentIds?: readonly string[],
): Promise<ToolResult> {
  const { maximumPassages } = call.space.settings
  const numberOf = new Map(
    given.flatMap(({ parts }, index) => parts.map(({ chunk }) => [chunk.chunkId, index + 1] as const)),
  )
  const more = Math.min(numberOf.size, mostGiven)
  const options = { more, ...(documentIds && { documentIds }) }
  const found = await searchSpace(retrieval, { ...call, signal }, { text, context: [] }, options)
  const passages = found.filter(({ chunkId }) => !numberOf.has(chunkId)).slice(0, maximumPassages)
  const known = new Set(found.slice(0, maximumPassages).flatMap(({ chunkId }) => numberOf.get(chunkId) ?? []))
  if (known.size === 0) return { passages }
  const begin = passages.length === 0 ? 'Nothing new was found' : 'Also found'
  return { passages, note: `${begin}; already given to you: ${[...known].join(', ')}.` }
}
