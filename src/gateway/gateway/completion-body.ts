import { maximumMessages, maximumMetadataPairs, maximumPartsPerMessage } from '../../contract/gateway.ts'
import { type BodyReader, type BodyShape, LongTexts, toMovable } from '../../platform/bodies/index.ts'
import { textOfContent } from '../conversation/index.ts'
import type { TokenEstimate } from '../tokens/index.ts'
import { estimatePromptAtOnce } from './prompt-size.ts'
import {
  emptyMessageFields,
  knownFields,
  type ParsedCompletion,
  parseCompletion,
  parseUsualCompletion,
} from './parse-completion.ts'

const part: BodyShape = { members: shapes(['type', 'text', 'refusal']) }
const message: BodyShape = {
  members: new Map([
    ...shapes(['role', ...emptyMessageFields]),
    ['content', { maximumItems: maximumPartsPerMessage, items: part }],
  ]),
}

export type ReadCompletion = ParsedCompletion & { promptEstimate: TokenEstimate }

/**
 * How the body of a completion is read: what is not a known field is never built. The prompt is estimated here, because bodies with many short
 * texts or unusual fields are read in a thread: 100 KB take 0.7 ms.
 */
export const completionBody: BodyReader<ReadCompletion> = {
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
  readUsual,
  startLong() {
    const texts = new LongTexts()
    return { push: (bytes) => texts.push(bytes), finish: () => readUsual(texts.finish()) }
  },
  read(value, ignored) {
    const parsed = parseCompletion(value, ignored)
    for (const message of parsed.request.messages) message.content = toMovable(textOfContent(message.content))
    return { ...parsed, promptEstimate: estimatePromptAtOnce(parsed.request.messages) }
  },
}

function readUsual(value: unknown): ReadCompletion | undefined {
  const parsed = parseUsualCompletion(value)
  return parsed && { ...parsed, promptEstimate: estimatePromptAtOnce(parsed.request.messages) }
}

function shapes(names: Iterable<string>): Map<string, BodyShape> {
  return new Map([...names].map((name) => [name, {}]))
}
