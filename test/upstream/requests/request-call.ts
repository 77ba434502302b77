import type { ProviderRequest } from '../../../src/providers/index.ts'

/** One call in the port's words: what both our adapters and the AI SDK's are asked to send. */
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

/** A recorded body as a call, and what of it a call cannot express. */
export interface ReadBody {
  call: RequestCall
  /** Paths without positions (`messages[].content`) of fields that the product does not offer. */
  notOffered: string[]
}
