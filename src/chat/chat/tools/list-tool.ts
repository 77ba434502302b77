import { z } from 'zod'
import { documentFilter, filterProperties } from './document-filter.ts'
import { objectSchema, readWith, type Tool } from './tool.ts'

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
