import { maximumMetadataPairs } from '../../../contract/gateway.ts'
import { type BodyReader, type BodyShape, JsonText, LongTexts } from '../../../platform/bodies/index.ts'
import { isAppError, isObject } from '../../../platform/kernel/index.ts'
import { estimateRequestAtOnce } from '../../gateway/index.ts'
import type { ParsedCall } from '../completion.routes.ts'
import { maximumBodyDepth, nestingOf, requestLimits } from '../limits.ts'
import { moveLongTexts } from '../long-texts.ts'
import { partMembers } from './parse-content.ts'
import { itemMembers } from './parse-input.ts'
import { knownFields, parseResponses, type ParsedResponses } from './parse-request.ts'
import { toolMembers } from './parse-tools.ts'

export type ReadResponses = ParsedResponses & ParsedCall

const parts: BodyShape = {
  maximumItems: requestLimits.partsPerMessage,
  items: { members: shapes(partMembers) },
}

const item: BodyShape = {
  members: new Map([...shapes(itemMembers), ['content', parts], ['output', parts], ['summary', parts]]),
}

/** How a body of the Responses API is read; see `completionBody` of version 1, which it follows. */
export const responsesBody: BodyReader<ReadResponses> = {
  module: import.meta.url,
  exportName: 'responsesBody',
  shape: {
    members: new Map([
      ...shapes(knownFields),
      ['metadata', { maximumMembers: maximumMetadataPairs }],
      ['input', { maximumItems: requestLimits.messages, items: item }],
      ['tools', { maximumItems: requestLimits.tools, items: { members: shapes(toolMembers) } }],
    ]),
  },
  maximumDepth: maximumBodyDepth,
  // Each part is an object with two values; the rest is for the items themselves, for tools and for the other fields.
  maximumValues: 3 * requestLimits.messages * requestLimits.partsPerMessage + 500_000,
  readUsual,
  startLong() {
    const texts = new LongTexts()
    return { push: (bytes) => texts.push(bytes), finish: () => readUsual(texts.finish()) }
  },
  read(value, ignored) {
    const parsed = read(value, ignored)
    moveLongTexts(parsed.request.messages)
    return parsed
  },
}

/** The same of a request whose tokens are counted, which may lack the model. */
export const tokenCountBody: BodyReader<ReadResponses> = {
  ...responsesBody,
  exportName: 'tokenCountBody',
  readUsual: (value) => responsesBody.readUsual!(withModel(value)),
  startLong() {
    const texts = new LongTexts()
    return { push: (bytes) => texts.push(bytes), finish: () => readUsual(withModel(texts.finish())) }
  },
  read: (value, ignored) => responsesBody.read(withModel(value), ignored),
}

/** The count does not depend on the model. */
function withModel(value: unknown): unknown {
  return isObject(value) && !(value instanceof JsonText) ? { ...value, model: value.model ?? 'any' } : value
}

function read(value: unknown, ignored: string[]): ReadResponses {
  const parsed = parseResponses(value, ignored)
  return { ...parsed, promptEstimate: estimateRequestAtOnce(parsed.request) }
}

/** What is not valid is scanned, whose errors come first. */
function readUsual(value: unknown): ReadResponses | undefined {
  if (value === undefined || nestingOf(value, maximumBodyDepth) > maximumBodyDepth) return undefined
  try {
    return read(value, [])
  } catch (error) {
    if (isAppError(error)) return undefined
    throw error
  }
}

function shapes(names: Iterable<string>): Map<string, BodyShape> {
  return new Map([...names].map((name) => [name, {}]))
}
