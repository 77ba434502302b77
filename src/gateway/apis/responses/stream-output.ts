import type { CompletionEvent } from '../../gateway/index.ts'
import type { ReasoningReplay } from '../../providers/index.ts'
import type { EventWriter } from './event-writer.ts'
import { createItemIds } from './items.ts'
import { openCall, type OpenCall } from './stream-call.ts'
import { createHostedItems } from './stream-hosted.ts'
import { openMessage, type OpenMessage } from './stream-message.ts'
import { openReasoning, type OpenReasoning } from './stream-reasoning.ts'

type CallEvent = CompletionEvent & { type: 'tool_call' }

/**
 * The items of a streamed response. There is one message, which ends with the response. Reasoning ends when something else begins; the
 * provider's own blocks of it, which a client must send back, follow at the end in a second item.
 */
export function createStreamOutput(writer: EventWriter, responseId: string, customTools: readonly string[]) {
  const itemId = createItemIds(responseId)
  /** Closed items as JSON, by output index. */
  const output: string[] = []
  let items = 0
  let reasoning: OpenReasoning | undefined
  let message: OpenMessage | undefined
  const calls = new Map<number, OpenCall>()
  const hosted = createHostedItems(writer)
  /** The beginning of calls whose names are still to come. */
  const unnamed = new Map<number, { id: string | undefined; argumentsJson: string }>()

  const toReasoning = () => (reasoning ??= openReasoning(writer, itemId('rs', items), items++))
  const toMessage = () => (message ??= openMessage(writer, itemId('msg', items), items++))
  const closeReasoning = (replay?: ReasoningReplay) => {
    if (reasoning) output[reasoning.outputIndex] = reasoning.close(replay)
    reasoning = undefined
  }
  const writeCall = ({ index, id, name, argumentsDelta }: CallEvent) => {
    const call = calls.get(index)
    if (call) return call.write(argumentsDelta)
    const waiting = unnamed.get(index)
    const callId = id ?? waiting?.id
    const argumentsJson = (waiting?.argumentsJson ?? '') + argumentsDelta
    if (name === undefined) return void unnamed.set(index, { id: callId, argumentsJson })
    const isCustom = customTools.includes(name)
    const newId = itemId(isCustom ? 'ctc' : 'fc', items)
    const begun = openCall(writer, { itemId: newId, callId: callId ?? `call_${newId}`, name, isCustom }, items++)
    calls.set(index, begun)
    begun.write(argumentsJson)
  }

  return {
    write(event: CompletionEvent): void {
      switch (event.type) {
        case 'reasoning':
          return toReasoning().write(event.text)
        case 'text':
          closeReasoning()
          return toMessage().write(event.text)
        case 'refusal':
          closeReasoning()
          return toMessage().refuse(event.text)
        case 'tool_call':
          closeReasoning()
          return writeCall(event)
        case 'logprobs':
          return toMessage().addLogprobs(event.logprobs)
        case 'citations':
          return toMessage().cite(event.citations)
        case 'hosted_item':
          closeReasoning()
          return hosted.write(event, output, () => items++)
        case 'replay':
          toReasoning()
          return closeReasoning(event.replay)
        // Of further choices and of other client APIs.
        default:
          return
      }
    },
    /** Ends what is open; of a cut answer only the last item is incomplete. */
    close(isCut: boolean): void {
      closeReasoning()
      if (calls.size === 0) toMessage()
      const open = [...(message ? [message] : []), ...calls.values()].toSorted((a, b) => a.outputIndex - b.outputIndex)
      for (const item of open)
        output[item.outputIndex] = item.close(isCut && item === open.at(-1) ? 'incomplete' : 'completed')
    },
    /** The JSON of the items that have ended. */
    items: (): string[] => output.filter((item) => item !== undefined),
  }
}
