import type { AnswerIdentity, WholeCompletion } from '../../gateway/index.ts'
import { signatureOf, textBlock, thinkingBlock, toCitation, toolUseBlock } from './render-blocks.ts'
import { renderUsage, stopReasonOf } from './render-usage.ts'

type Json = Record<string, unknown>

/** The JSON of `messageSchema`. `omitsThinking`: thinking blocks have their signature only. */
export function renderMessage(
  completion: WholeCompletion,
  { id, model }: Pick<AnswerIdentity, 'id' | 'model'>,
  { omitsThinking }: { omitsThinking: boolean },
): string {
  const { native, finishReason, refusal, usage } = completion
  const end = native
    ? {
        stop_reason: native.stop_reason,
        stop_sequence: native.stop_sequence ?? null,
        container: native.container ?? null,
      }
    : { stop_reason: stopReasonOf(finishReason, refusal !== null), stop_sequence: null, container: null }
  const content = native ? native.content : toBlocks(completion, omitsThinking)
  return JSON.stringify({ id, type: 'message', role: 'assistant', model, content, ...end, usage: renderUsage(usage) })
}

function toBlocks(completion: WholeCompletion, omitsThinking: boolean): Json[] {
  const { text, refusal, reasoningText, toolCalls, citations, replay } = completion
  const signature = signatureOf(replay)
  const blocks: Json[] = []
  if (reasoningText !== '') blocks.push(thinkingBlock(omitsThinking ? '' : reasoningText, signature))
  else if (signature !== '') blocks.push({ type: 'redacted_thinking', data: signature })
  const shown = text === '' ? (refusal ?? '') : text
  if (shown !== '' || citations.length > 0)
    blocks.push(
      textBlock(
        shown,
        citations.map((citation) => toCitation(citation, shown)),
      ),
    )
  return [...blocks, ...toolCalls.map(toolUseBlock)]
}
