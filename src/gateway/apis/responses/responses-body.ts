import { maximumMetadataPairs } from '../../../contract/gateway.ts'
import { type BodyReader, type BodyShape, JsonText, wholeMembers } from '../../../platform/bodies/index.ts'
import { isObject } from '../../../platform/kernel/index.ts'
import { readsWith } from '../completion-body.ts'
import type { ParsedCall } from '../completion.routes.ts'
import { requestLimits } from '../limits.ts'
import { partMembers } from './parse-content.ts'
import { itemMembers } from './parse-input.ts'
import { knownFields, parseResponses, type ParsedResponses } from './parse-request.ts'
import { toolMembers } from './parse-tools.ts'

export type ReadResponses = ParsedResponses & ParsedCall

const parts: BodyShape = { maximumItems: requestLimits.partsPerMessage, items: { members: wholeMembers(partMembers) } }

const item: BodyShape = {
  members: new Map([...wholeMembers(itemMembers), ['content', parts], ['output', parts], ['summary', parts]]),
}

/** How a body of the Responses API is read; see `completionBody` of version 1, which it follows. */
export const responsesBody: BodyReader<ReadResponses> = {
  module: import.meta.url,
  exportName: 'responsesBody',
  shape: {
    members: new Map([
      ...wholeMembers(knownFields),
      ['metadata', { maximumMembers: maximumMetadataPairs }],
      ['input', { maximumItems: requestLimits.messages, items: item }],
      ['tools', { maximumItems: requestLimits.tools, items: { members: wholeMembers(toolMembers) } }],
    ]),
  },
  ...readsWith(parseResponses),
}

/** The same of a request whose tokens are counted, which may lack the model: it is `''` then. */
export const tokenCountBody: BodyReader<ReadResponses> = {
  ...responsesBody,
  exportName: 'tokenCountBody',
  ...readsWith((value, ignored) => {
    if (!isObject(value) || value instanceof JsonText || (value.model ?? null) !== null)
      return parseResponses(value, ignored)
    return { ...parseResponses({ ...value, model: 'any' }, ignored), model: '' }
  }),
}
