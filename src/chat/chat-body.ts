import { type ChatRequest, chatRequestSchema } from '../contract/chat.ts'
import { maximumMessages } from '../contract/gateway.ts'
import { readValue } from '../contract/validation.ts'
import { AppError, type BodyReader } from '../kernel/index.ts'

const message = {
  members: new Map([
    ['role', {}],
    ['content', {}],
  ]),
}

export interface ReadChat extends ChatRequest {
  /** Names of the fields that were ignored, for `x-ignored-params`. */
  ignored: string[]
}

/** Reads the body of a Space chat. Values of unknown fields are skipped without being parsed. */
export const chatBody: BodyReader<ReadChat> = {
  module: import.meta.url,
  exportName: 'chatBody',
  shape: {
    members: new Map([
      ['messages', { maximumItems: maximumMessages, items: message }],
      ['streaming', {}],
    ]),
  },
  maximumValues: 10 * maximumMessages,
  read(value, ignored) {
    const read = readValue(chatRequestSchema, value, 'the request body')
    if ('value' in read) return { ...read.value, ignored }
    throw new AppError('invalid_request', read.problem.message, { param: read.problem.param || undefined })
  },
}
