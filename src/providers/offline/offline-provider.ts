import { type Clock, systemClock } from '../../kernel/index.ts'
import {
  type FinishReason,
  type Provider,
  type ProviderAnswer,
  type ProviderCall,
  type ProviderEvent,
  type TokenUsage,
} from '../port.ts'
import { failure } from '../wire-failure.ts'
import { composeAnswer } from './compose-answer.ts'
import { loadTokenCounter, type TokenCounter } from './count-tokens.ts'

export interface OfflineProviderOptions {
  id: string
  /** Pause before each piece of a stream, for tests and demonstrations. */
  delayMs?: number
  clock?: Clock
}

/**
 * The built-in model that needs no network: it quotes the best sentences of the passages it is given, and otherwise says what it is. The
 * same request gives the same answer. Usage is counted, never guessed.
 */
export function createOfflineProvider({ id, delayMs = 0, clock = systemClock }: OfflineProviderOptions): Provider {
  let counter: Promise<TokenCounter> | undefined

  async function answer(call: ProviderCall) {
    counter ??= loadTokenCounter()
    const count = await counter
    assertNotCancelled(call.signal)
    return limit(composeAnswer(call.request.messages), call, count)
  }

  return {
    id,
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

async function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  await clock.sleep(delayMs, signal).catch(() => assertNotCancelled(signal))
}

function assertNotCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw failure('cancelled', 'The call was cancelled.', { cause: signal.reason })
}

/** Applies stop sequences and the output cap, and cuts the text into the words that a stream sends. */
function limit(
  text: string,
  { request }: ProviderCall,
  count: TokenCounter,
): { pieces: string[]; finishReason: FinishReason; usage: TokenUsage } {
  const stopAt = (request.stop ?? []).map((stop) => text.indexOf(stop)).filter((index) => index !== -1)
  const whole = stopAt.length > 0 ? text.slice(0, Math.min(...stopAt)) : text
  const pieces: string[] = []
  let finishReason: FinishReason = 'stop'
  let written = ''
  let completionTokens = 0
  for (const piece of whole.match(/\S+\s*|\s+/g) ?? []) {
    const tokens = count.text(written + piece)
    if (tokens > (request.maxOutputTokens ?? Number.POSITIVE_INFINITY)) {
      finishReason = 'length'
      break
    }
    pieces.push(piece)
    written += piece
    completionTokens = tokens
  }
  const promptTokens = count.messages(request.messages)
  return {
    pieces,
    finishReason,
    usage: { promptTokens, completionTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  }
}
