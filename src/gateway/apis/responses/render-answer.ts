import type { WholeCompletion } from '../../gateway/index.ts'
import {
  callItem,
  createItemIds,
  encryptReasoning,
  messageContent,
  messageItem,
  reasoningItem,
  type ItemStatus,
} from './items.ts'
import { incompleteReasonOf, renderResponse, type ResponseIdentity } from './response-object.ts'

export type RenderedAnswer = Pick<
  WholeCompletion,
  | 'hostedItems'
  | 'text'
  | 'refusal'
  | 'reasoningText'
  | 'toolCalls'
  | 'finishReason'
  | 'citations'
  | 'logprobs'
  | 'replay'
  | 'usage'
>

/** A whole answer as a response object: reasoning, what the provider ran, the message, then the calls. */
export function renderAnswer(
  answer: RenderedAnswer,
  { settings, customTools }: { settings: string; customTools: readonly string[] },
  identity: ResponseIdentity,
  completedSeconds: number,
): string {
  const { text, refusal, reasoningText, toolCalls, finishReason, citations, logprobs = [], replay, usage } = answer
  const incompleteReason = incompleteReasonOf(finishReason)
  const itemId = createItemIds(identity.id)
  const items: object[] = []
  const hasMessage = text !== '' || refusal !== null || toolCalls.length === 0
  // Only the last item is cut.
  const statusOf = (isLast: boolean): ItemStatus => (isLast && incompleteReason ? 'incomplete' : 'completed')

  if (reasoningText !== '' || replay)
    items.push(reasoningItem(itemId('rs', 0), reasoningText, encryptReasoning(reasoningText, replay)))
  items.push(...(answer.hostedItems ?? []))
  if (hasMessage) {
    const content = messageContent({ text, refusal }, citations, logprobs)
    items.push(messageItem(itemId('msg', items.length), statusOf(toolCalls.length === 0), content))
  }
  for (const [index, call] of toolCalls.entries()) {
    const isCustom = customTools.includes(call.name)
    const status = statusOf(index === toolCalls.length - 1)
    items.push(callItem(itemId(isCustom ? 'ctc' : 'fc', items.length), status, call, isCustom))
  }
  return renderResponse(identity, settings, {
    status: incompleteReason ? 'incomplete' : 'completed',
    output: items.map((item) => JSON.stringify(item)),
    ...(incompleteReason ? { incompleteReason } : { completedSeconds }),
    usage,
  })
}
