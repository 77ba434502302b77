import { type BodyReader, LongTexts, toMovable } from '../../platform/bodies/index.ts'
import { isAppError } from '../../platform/kernel/index.ts'
import { estimateRequestAtOnce } from '../gateway/index.ts'
import type { ParsedCall } from './completion.routes.ts'
import { maximumBodyDepth, nestingOf, requestLimits } from './limits.ts'
import { type ContentPart, isParts } from '../conversation/index.ts'
import type { ProviderMessage } from '../providers/index.ts'

type Parsed = Pick<ParsedCall, 'request'>
type Estimated<Call extends Parsed> = Call & Pick<ParsedCall, 'promptEstimate'>

/**
 * What the readers of the APIs for completions share, apart from their fields: the way from a value to a request with its estimate, and the
 * bounds of a body. See `completionBody` of version 1, which it follows. `parse` throws AppError.
 */
export function readsWith<Call extends Parsed>(parse: (value: unknown, ignored: string[]) => Call) {
  function read(value: unknown, ignored: string[]): Estimated<Call> {
    const parsed = parse(value, ignored)
    return { ...parsed, promptEstimate: estimateRequestAtOnce(parsed.request) }
  }

  /** What is not valid is scanned, whose errors come first. */
  function readUsual(value: unknown): Estimated<Call> | undefined {
    if (value === undefined || nestingOf(value, maximumBodyDepth) > maximumBodyDepth) return undefined
    try {
      return read(value, [])
    } catch (error) {
      if (isAppError(error)) return undefined
      throw error
    }
  }

  return {
    maximumDepth: maximumBodyDepth,
    // Each part is an object with two values; the rest is for the messages themselves, for tools and for the other fields.
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
  } satisfies Partial<BodyReader<Estimated<Call>>>
}

/** Turns the long texts and media of messages into bytes, which move from the thread that has read them without a copy. */
function moveLongTexts(messages: ProviderMessage[]): void {
  for (const message of messages) {
    message.content = isParts(message.content) ? message.content.map(moveLongPart) : toMovable(message.content)
  }
}

function moveLongPart(part: ContentPart): ContentPart {
  if (part.type === 'refusal') return part
  if (part.type === 'text') return { ...part, text: toMovable(part.text) }
  if (part.source.kind === 'url') return part
  return { ...part, source: { ...part.source, data: toMovable(part.source.data) } }
}
