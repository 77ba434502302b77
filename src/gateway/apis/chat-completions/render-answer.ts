import { type AnswerIdentity, renderCitation, renderUsage, type WholeCompletion } from '../../gateway/index.ts'
import type { AnswerChoice, UrlCitation } from '../../providers/index.ts'
import { renderFinishReason, renderLogprobs, renderToolCall, toCallId, toReasoningDetails } from './render-message.ts'

export interface RenderOptions {
  showsReasoning: boolean
  /** The request has `functions`. */
  isLegacy: boolean
}

/** The JSON of `chatCompletionSchema`. */
export function renderChatCompletion(
  completion: WholeCompletion,
  identity: AnswerIdentity,
  options: RenderOptions,
): string {
  const { id, createdSeconds, model } = identity
  const choices = [completion, ...(completion.furtherChoices ?? [])].map((choice, index) =>
    renderChoice(choice, index, index === 0 ? completion.citations : [], identity, options),
  )
  return (
    `{"id":${JSON.stringify(id)},"object":"chat.completion","created":${createdSeconds},"model":${JSON.stringify(model)},` +
    `"choices":[${choices.join(',')}],"usage":${renderUsage(completion.usage)}}`
  )
}

type Choice = Omit<AnswerChoice, 'wireFinishReason'>

function renderChoice(
  { text, refusal, reasoningText, toolCalls, finishReason, logprobs, replay }: Choice,
  index: number,
  citations: UrlCitation[],
  { id }: AnswerIdentity,
  { showsReasoning, isLegacy }: RenderOptions,
): string {
  const hasNoText = text === '' && (refusal !== null || toolCalls.length > 0)
  const message: Record<string, unknown> = { role: 'assistant', content: hasNoText ? null : text, refusal }
  if (citations.length > 0) message.annotations = citations.map(renderCitation)
  if (showsReasoning && reasoningText !== '') message.reasoning_content = reasoningText
  const details = replay && toReasoningDetails(replay)
  if (details) message.reasoning_details = details
  const [first] = toolCalls
  if (isLegacy && first) message.function_call = { name: first.name, arguments: first.argumentsJson }
  if (first && (!isLegacy || toolCalls.length > 1))
    message.tool_calls = toolCalls.map((call, at) => renderToolCall(call, toCallId(call.id, id, index, at)))
  return (
    `{"index":${index},"message":${JSON.stringify(message)},"logprobs":${renderLogprobs(logprobs)},` +
    `"finish_reason":"${renderFinishReason(finishReason, isLegacy)}"}`
  )
}
