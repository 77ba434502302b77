import { maximumRerankDocuments, rerankRequestSchema } from '../../../contract/gateway-v2-embeddings.ts'
import type { BodyReader } from '../../../platform/bodies/index.ts'
import { isObject } from '../../../platform/kernel/index.ts'
import { invalid, readList, readObject, readText, settingsReader } from '../limits.ts'

const { documents: _documents, ...settings } = rerankRequestSchema.shape
const readSettings = settingsReader(rerankRequestSchema.omit({ documents: true }))

export interface ReadRerank {
  model: string
  query: string
  documents: string[]
  topN: number
  returnsDocuments: boolean
  user: string | undefined
  ignored: string[]
}

export const rerankBody: BodyReader<ReadRerank> = {
  module: import.meta.url,
  exportName: 'rerankBody',
  shape: {
    members: new Map([
      ...Object.keys(settings).map((name) => [name, {}] as const),
      ['documents', { maximumItems: maximumRerankDocuments, items: { members: new Map([['text', {}]]) } }],
    ]),
  },
  maximumValues: 10 * maximumRerankDocuments,
  read(value, ignored) {
    const body = readObject(value, [])
    const read = readSettings(body)
    const documents = readList(body.documents, ['documents'], maximumRerankDocuments).map((document, index) =>
      isObject(document)
        ? readText(document.text, ['documents', index, 'text'])
        : readText(document, ['documents', index]),
    )
    if (documents.length === 0) throw invalid(['documents'], 'must not be empty')
    return {
      model: read.model,
      query: read.query,
      documents,
      topN: Math.min(read.top_n ?? documents.length, documents.length),
      returnsDocuments: read.return_documents ?? false,
      user: read.user,
      ignored,
    }
  },
}
