import {
  embeddingRequestSchema,
  maximumEmbeddingInputs,
  maximumTokensPerInput,
} from '../../../contract/gateway-v2-embeddings.ts'
import type { BodyReader } from '../../../platform/bodies/index.ts'
import { isObject } from '../../../platform/kernel/index.ts'
import { invalid, nameOfType, readList, readObject, settingsReader } from '../limits.ts'

const { input: _input, ...settings } = embeddingRequestSchema.shape
const readSettings = settingsReader(embeddingRequestSchema.omit({ input: true }))

export interface ReadEmbeddings {
  model: string
  texts: string[]
  tokens: number[][] | undefined
  format: 'float' | 'base64'
  dimensions: number | undefined
  purpose: 'document' | 'query'
  user: string | undefined
  ignored: string[]
}

export const embeddingBody: BodyReader<ReadEmbeddings> = {
  module: import.meta.url,
  exportName: 'embeddingBody',
  shape: {
    members: new Map([
      ...Object.keys(settings).map((name) => [name, {}] as const),
      ['input', { maximumItems: maximumTokensPerInput, items: { maximumItems: maximumTokensPerInput } }],
    ]),
  },
  // Tokens of all inputs together.
  maximumValues: 2_000_000,
  read(value, ignored) {
    const body = readObject(value, [])
    const read = readSettings(body)
    return {
      model: read.model,
      ...readInput(body.input),
      format: read.encoding_format ?? 'float',
      dimensions: read.dimensions,
      purpose: read.input_type ?? 'document',
      user: read.user,
      ignored,
    }
  },
}

/** A text, texts, the tokens of a text, or those of several. Not in the schema's way, which takes as long as parsing for each alternative. */
function readInput(input: unknown): Pick<ReadEmbeddings, 'texts' | 'tokens'> {
  if (typeof input === 'string') return { texts: [readInputText(input, [])], tokens: undefined }
  if (!Array.isArray(input)) throw invalid(['input'], `must be a string or an array, not ${nameOfType(input)}`)
  if (input.length === 0) throw invalid(['input'], 'must not be empty')
  if (typeof input[0] === 'number') return { texts: [], tokens: [readTokens(input, [])] }
  readList(input, ['input'], maximumEmbeddingInputs)
  if (typeof input[0] === 'string')
    return { texts: input.map((text, index) => readInputText(text, [index])), tokens: undefined }
  return { texts: [], tokens: input.map((tokens, index) => readTokens(tokens, [index])) }
}

function readInputText(text: unknown, at: number[]): string {
  const path = ['input', ...at]
  if (typeof text !== 'string') throw invalid(path, `must be a string like the others, not ${nameOfType(text)}`)
  if (text === '') throw invalid(path, 'must not be empty')
  return text
}

function readTokens(value: unknown, at: number[]): number[] {
  const path = ['input', ...at]
  if (isObject(value)) throw invalid(path, 'must be a string or an array of tokens')
  const tokens = readList(value, path, maximumTokensPerInput)
  if (tokens.length === 0) throw invalid(path, 'must not be empty')
  const wrong = tokens.findIndex((token) => !Number.isSafeInteger(token) || (token as number) < 0)
  if (wrong !== -1) throw invalid([...path, wrong], 'must be a token: a whole number of at least 0')
  return tokens as number[]
}
