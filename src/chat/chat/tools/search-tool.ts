import { z } from 'zod'
import { searchSpace } from '../search-space.ts'
import { documentFilter, filterProperties } from './document-filter.ts'
import { objectSchema, readWith, type Tool } from './tool.ts'

/** Longest query, UTF-16 units; a longer one is cut. */
const maximumQueryLength = 1_000
/** Documents that a filter may select; a search reads their terms from the database. */
const maximumFilteredDocuments = 500

/** A search in the Space's own files. */
export const searchTool: Tool = {
  definition: {
    name: 'search_uploaded_files',
    description:
      'Searches the uploaded files of this Space by meaning and words. Call it when the passages at hand do not answer the question.',
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
      async run({ dependencies: { retrieval, documents }, call, scope, signal }) {
        const search = { ...call, signal }
        if (!name && !metadata) return { passages: await searchSpace(retrieval, search, { text: query, context: [] }) }
        const selection = {
          limit: maximumFilteredDocuments,
          ...(name && { name }),
          ...(metadata && { metadata }),
        }
        const selected = await documents.loadDocuments(scope, selection, signal)
        if (selected.total === 0) return { problem: 'No document has this name and metadata.' }
        if (selected.total > maximumFilteredDocuments) {
          return {
            problem: `${selected.total} documents match; at most ${maximumFilteredDocuments} can be searched with a filter. Narrow it, or search without it.`,
          }
        }
        const documentIds = selected.documents.map(({ id }) => id)
        return { passages: await searchSpace(retrieval, search, { text: query, context: [] }, { documentIds }) }
      },
    }
  }),
}
