import { textOf } from '../../../platform/bodies/index.ts'
import {
  type Clock,
  createTimeSlices,
  type EndSignal,
  sharedOwner,
  systemClock,
} from '../../../platform/kernel/index.ts'
import { textOfContent } from '../../conversation/index.ts'
import type { TokenCounting } from '../../tokens/index.ts'
import {
  type FinishReason,
  type Provider,
  type ProviderAnswer,
  type ProviderCall,
  type ProviderEvent,
} from '../port.ts'
import { failure } from '../wire-failure.ts'
import { composeAnswer } from './compose-answer.ts'

export interface OfflineProviderOptions {
  id: string
  tokens: TokenCounting
  /** Pause before each piece of a stream, for tests and demonstrations. */
  delayMs?: number
  clock?: Clock
}

/**
 * The built-in model without a network: it quotes the sentences of the given passages that answer, states where none does, and without
 * passages describes itself. Equal requests
 * get equal answers. Usage is counted with the o200k encoding.
 */
export function createOfflineProvider({
  id,
  tokens,
  delayMs = 0,
  clock = systemClock,
}: OfflineProviderOptions): Provider {
  async function answer(call: ProviderCall) {
    const { messages } = call.request
    const { pieces, finishReason, completionTokens } = await limit(await composeAnswer(messages), call, tokens)
    const promptTokens = await countMessages(call, tokens)
    assertNotCancelled(call.signal)
    const usage = { promptTokens, completionTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
    return { pieces, finishReason, usage }
  }

  return {
    id,
    peer: { system: 'portico' },
    async complete(call): Promise<ProviderAnswer> {
      const { pieces, finishReason, usage } = await answer(call)
      return {
        text: pieces.join(''),
        reasoningText: '',
        refusal: null,
        toolCalls: [],
        finishReason,
        wireFinishReason: finishReason,
        usage,
        providerRequestId: null,
        adjusted: [],
      }
    },
    async stream(call) {
      const { pieces, finishReason, usage } = await answer(call)
      async function* events(): AsyncGenerator<ProviderEvent[], void, void> {
        for (const text of pieces) {
          if (delayMs > 0) await pause(clock, delayMs, call.signal)
          assertNotCancelled(call.signal)
          yield [{ type: 'text', text }]
        }
        yield [
          { type: 'finish', finishReason, wireFinishReason: finishReason },
          { type: 'usage', usage },
        ]
      }
      return { events: events(), adjusted: [], providerRequestId: null }
    },
    listModels: () => Promise.resolve(['offline']),
    close: () => Promise.resolve(),
  }
}

async function pause(clock: Clock, delayMs: number, signal: EndSignal): Promise<void> {
  await clock.sleep(delayMs, signal).catch(() => assertNotCancelled(signal))
}

function assertNotCancelled(signal: EndSignal): void {
  if (signal.aborted) throw failure('cancelled', 'The call was cancelled.', { cause: signal.reason })
}

/** Applies stop sequences and the output cap, and splits the text into the words of a stream. */
async function limit(
  text: string,
  { request, tenant = sharedOwner }: ProviderCall,
  tokens: TokenCounting,
): Promise<{ pieces: string[]; finishReason: FinishReason; completionTokens: number }> {
  const stopAt = (request.stop ?? []).map((stop) => text.indexOf(stop)).filter((index) => index !== -1)
  const whole = stopAt.length > 0 ? text.slice(0, Math.min(...stopAt)) : text
  const pieces = whole.match(/\S+\s*|\s+/g) ?? []
  const tokensOf = (count: number) => tokens.count([pieces.slice(0, count).join('')], tenant)
  const all = await tokensOf(pieces.length)
  const cap = request.maxOutputTokens ?? Number.POSITIVE_INFINITY
  if (all <= cap) return { pieces, finishReason: 'stop', completionTokens: all }
  // The largest number of pieces that fits, by bisection: adding text never lowers a token count.
  let fitting = { count: 0, tokens: 0 }
  let tooMany = pieces.length
  while (tooMany - fitting.count > 1) {
    const count = Math.floor((fitting.count + tooMany) / 2)
    const counted = await tokensOf(count)
    if (counted <= cap) fitting = { count, tokens: counted }
    else tooMany = count
  }
  return { pieces: pieces.slice(0, fitting.count), finishReason: 'length', completionTokens: fitting.tokens }
}

/** Tokens of role and separators around each message, and of the answer's beginning, from OpenAI's counting guide. */
const tokensPerMessage = 3
const tokensPerAnswer = 3

async function countMessages({ request, tenant = sharedOwner }: ProviderCall, tokens: TokenCounting): Promise<number> {
  const { messages } = request
  const contents: string[] = []
  const slice = createTimeSlices()
  for (const { content } of messages) {
    await slice()
    contents.push(textOf(textOfContent(content)))
  }
  return tokensPerAnswer + messages.length * tokensPerMessage + (await tokens.count(contents, tenant))
}
