import { searchSpace } from '../search-space.ts'
import type { Tool } from './tool.ts'

/** Longest query, UTF-16 units; a longer one is cut. */
const maximumQueryLength = 1_000

/** A search in the Space's own files. */
export const searchTool: Tool = {
  definition: {
    name: 'search_uploaded_files',
    description:
      'Searches the uploaded files of this Space. Call it when the passages at hand do not answer the question.',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: 'What to look for, in a few words.' } },
      required: ['query'],
      additionalProperties: false,
    },
  },
  source: 'UPLOADED_FILES',
  read({ query: given }) {
    if (typeof given !== 'string' || given.trim() === '') {
      return { problem: '`query` must be a text that is not empty.' }
    }
    const query = given.slice(0, maximumQueryLength)
    return {
      query,
      run: async ({ dependencies, call }) => ({
        passages: await searchSpace(dependencies.retrieval, call, { text: query, context: [] }),
      }),
    }
  },
}
