import type { FinishReason, ProviderEvent, TokenUsage } from '../providers/index.ts'
import type { CompletionEvent } from './port.ts'
import { estimateTokens } from '../tokens/index.ts'

/** Follows one stream: how much output there is, its usage and its finish; sorts out what the client may see. */
export interface OutputMeter {
  /** Counts the events of one read and returns those to pass on. */
  take(events: readonly ProviderEvent[]): CompletionEvent[]
  /** At least the tokens generated so far, as far as they were visible. */
  tokensBound(): number
  tokensEstimate(): number
  usage(): TokenUsage | null
  finishReason(): FinishReason
}

/** UTF-8 bytes of one token of ordinary text on average; OpenAI's guide says about 4 characters of English. */
const bytesPerTokenEstimate = 4
/** Bytes of one token that a bound relies on, for relayed chunks whose text is not parsed; 1 would be strict, 2 covers all but noise. */
const bytesPerTokenBound = 2

export function createOutputMeter(): OutputMeter {
  let bound = 0
  let estimate = 0
  let usage: TokenUsage | null = null
  let finish: FinishReason = 'stop'

  function count(text: string) {
    const counted = estimateTokens(text)
    // A delta is one token at least, and providers send mostly one token a delta.
    bound += Math.max(1, counted.bound)
    estimate += Math.max(1, counted.estimate)
  }

  return {
    take(events) {
      const visible: CompletionEvent[] = []
      for (const event of events) {
        switch (event.type) {
          case 'text':
          case 'reasoning':
          case 'refusal':
            count(event.text)
            visible.push(event)
            break
          case 'tool_call':
            count(event.argumentsDelta + (event.name ?? ''))
            visible.push(event)
            break
          case 'chunk':
            bound += Math.max(1, Math.ceil(event.outputBytes / bytesPerTokenBound))
            estimate += Math.max(1, Math.round(event.outputBytes / bytesPerTokenEstimate))
            visible.push(event)
            break
          case 'citations':
          case 'replay':
            visible.push(event)
            break
          case 'finish':
            finish = event.finishReason
            break
          case 'usage':
            usage = event.usage
            break
        }
      }
      return visible
    },
    tokensBound: () => bound,
    tokensEstimate: () => estimate,
    usage: () => usage,
    finishReason: () => finish,
  }
}
