import { maximumMetadataPairs } from '../../../contract/gateway.ts'
import { type BodyReader, type BodyShape, wholeMembers } from '../../../platform/bodies/index.ts'
import { readsWith } from '../completion-body.ts'
import type { ParsedCall } from '../completion.routes.ts'
import { requestLimits } from '../limits.ts'
import { messageFields, partFields } from './parse-messages.ts'
import { chatFields, parseChat, type ParsedChat } from './parse-request.ts'

export type ReadChat = ParsedChat & ParsedCall

const message: BodyShape = {
  members: new Map([
    ...wholeMembers(messageFields),
    ['content', { maximumItems: requestLimits.partsPerMessage, items: { members: wholeMembers(partFields) } }],
  ]),
}

/** How a body of chat completions is read; see `completionBody` of version 1, which it follows. */
export const chatBody: BodyReader<ReadChat> = {
  module: import.meta.url,
  exportName: 'chatBody',
  shape: {
    members: new Map([
      ...wholeMembers(chatFields),
      ['metadata', { maximumMembers: maximumMetadataPairs }],
      ['messages', { maximumItems: requestLimits.messages, items: message }],
      ['tools', { maximumItems: requestLimits.tools }],
      ['functions', { maximumItems: requestLimits.tools }],
    ]),
  },
  ...readsWith(parseChat),
}
