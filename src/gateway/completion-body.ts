import { maximumMessages, maximumMetadataPairs, maximumPartsPerMessage } from '../contract/gateway.ts'
import type { BodyReader, BodyShape } from '../kernel/index.ts'
import { emptyMessageFields, knownFields, type ParsedCompletion, parseCompletion } from './parse-completion.ts'

const part: BodyShape = { members: shapes(['type', 'text', 'refusal']) }
const message: BodyShape = {
  members: new Map([
    ...shapes(['role', ...emptyMessageFields]),
    ['content', { maximumItems: maximumPartsPerMessage, items: part }],
  ]),
}

/** How the body of a completion is read: what is not a known field is never built. */
export const completionBody: BodyReader<ParsedCompletion> = {
  module: import.meta.url,
  exportName: 'completionBody',
  shape: {
    members: new Map([
      ...shapes(knownFields),
      ['metadata', { maximumMembers: maximumMetadataPairs }],
      ['messages', { maximumItems: maximumMessages, items: message }],
    ]),
  },
  // Each part is an object with two values; the rest is for the messages themselves and the other fields.
  maximumValues: 3 * maximumMessages * maximumPartsPerMessage + 100_000,
  read: parseCompletion,
}

function shapes(names: Iterable<string>): Map<string, BodyShape> {
  return new Map([...names].map((name) => [name, {}]))
}
