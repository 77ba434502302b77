import { countTokensRequestSchema, messagesRequestSchema } from '../../../contract/gateway-v2-messages.ts'
import { type BodyReader, type BodyShape, wholeMembers } from '../../../platform/bodies/index.ts'
import { estimateRequestAtOnce } from '../../gateway/index.ts'
import type { ParsedCall } from '../completion.routes.ts'
import { maximumBodyDepth, requestLimits } from '../limits.ts'
import { parseCountTokens, parseMessages, type ParsedMessages, refusedFields } from './parse-request.ts'

export type ReadMessages = ParsedMessages & ParsedCall
export type ReadCount = Omit<ReadMessages, 'stream'>

/** The fields of all kinds of blocks. */
const block: BodyShape = {
  members: wholeMembers([
    'type',
    'text',
    'citations',
    'cache_control',
    'source',
    'title',
    'context',
    'content',
    'id',
    'name',
    'input',
    'caller',
    'toolset_name',
    'server_name',
    'tool_use_id',
    'is_error',
    'thinking',
    'signature',
    'data',
  ]),
}

const message: BodyShape = {
  members: new Map<string, BodyShape>([
    ['role', {}],
    ['content', { maximumItems: requestLimits.partsPerMessage, items: block }],
  ]),
}

const shapeOf = (fields: Iterable<string>): BodyShape => ({
  members: new Map([
    ...wholeMembers(fields),
    ...wholeMembers(refusedFields),
    ['messages', { maximumItems: requestLimits.messages, items: message }],
    ['tools', { maximumItems: requestLimits.tools }],
  ]),
})

/** Values of one body: bounds the time to check and to map them. The longest conversations of coding agents have some ten thousand. */
const maximumValues = 500_000

/** How a body of `POST /messages` is read. Larger ones are read in a thread. */
export const messagesBody: BodyReader<ReadMessages> = {
  module: import.meta.url,
  exportName: 'messagesBody',
  shape: shapeOf(Object.keys(messagesRequestSchema.shape)),
  maximumDepth: maximumBodyDepth,
  maximumValues,
  read(value, unread) {
    const parsed = parseMessages(value)
    return withEstimate({ ...parsed, ignored: [...parsed.ignored, ...unread] })
  },
}

/** How a body of `POST /messages/count_tokens` is read. Fields of a message that do not change the prompt are ignored. */
export const countTokensBody: BodyReader<ReadCount> = {
  module: import.meta.url,
  exportName: 'countTokensBody',
  shape: shapeOf(Object.keys(countTokensRequestSchema.shape)),
  maximumDepth: maximumBodyDepth,
  maximumValues,
  read(value, unread) {
    const parsed = parseCountTokens(value)
    return withEstimate({ ...parsed, ignored: [...parsed.ignored, ...unread] })
  },
}

/**
 * Tokens that a tool of Anthropic adds to the prompt: 245 to 735 (platform.claude.com/docs/en/about-claude/pricing, read 2026-11).
 */
const vendorToolTokens = { estimate: 700, bound: 1_500 }

function withEstimate<Parsed extends Pick<ParsedMessages, 'request' | 'vendorTools'>>(parsed: Parsed) {
  const { estimate, bound } = estimateRequestAtOnce(parsed.request)
  const promptEstimate = {
    estimate: estimate + parsed.vendorTools * vendorToolTokens.estimate,
    bound: bound + parsed.vendorTools * vendorToolTokens.bound,
  }
  return { ...parsed, promptEstimate }
}
