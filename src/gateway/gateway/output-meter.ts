import type { FinishReason, ProviderEvent, TokenUsage } from '../providers/index.ts'
import type { ToolUses } from '../../platform/kernel/index.ts'
import type { CompletionEvent } from './port.ts'
import { estimateTokens } from '../tokens/index.ts'

/** Tracks one stream: its output, usage and finish reason. Filters what the client may see. */
export type OutputMeter = ReturnType<typeof createOutputMeter>

export function createOutputMeter() {
  let bound = 0
  let estimate = 0
  let usage: TokenUsage | null = null
  let finish: FinishReason = 'stop'
  const toolUses: { -readonly [Kind in keyof ToolUses]: ToolUses[Kind] } = {}

  function count(text: string) {
    const counted = estimateTokens(text)
    // A delta is at least one token, and usually exactly one.
    bound += Math.max(1, counted.bound)
    estimate += Math.max(1, counted.estimate)
  }

  return {
    /** Counts the events of one read and returns those to pass on. */
    take(events: readonly ProviderEvent[]): CompletionEvent[] {
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
          case 'logprobs':
          case 'choice_finish':
          case 'citations':
          case 'replay':
          case 'native':
          case 'hosted_item':
            visible.push(event)
            break
          case 'hosted_use':
            toolUses[event.kind] = (toolUses[event.kind] ?? 0) + 1
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
    /** At least the tokens generated so far, as far as they were visible. */
    tokensBound: (): number => bound,
    tokensEstimate: (): number => estimate,
    /** Uses of hosted tools that have begun; a usage states those that are billed. */
    toolUses: (): ToolUses => toolUses,
    usage: (): TokenUsage | null => usage,
    finishReason: (): FinishReason => finish,
  }
}
