import type { ProviderRequest } from '../../../src/gateway/providers/index.ts'

/** One call in the port's terms: the input of our adapters and the AI SDK's. */
export type RequestCall = ChatCall | EmbeddingCall

export interface ChatCall {
  kind: 'chat'
  /** The id on the wire. */
  model: string
  stream: boolean
  request: ProviderRequest
}

export interface EmbeddingCall {
  kind: 'embeddings'
  model: string
  texts: string[]
  dimensions?: number
  purpose: 'document' | 'query'
}

/** A recorded body as a call, with the fields that a call cannot express. */
export interface ReadBody {
  call: RequestCall
  /** Paths without positions (`messages[].content`) of fields that Portico does not offer. */
  notOffered: string[]
}
