import type { AnnotationBody, CompletionBody, CompletionUsageBody } from '../contract/gateway.ts'
import type { FinishReason, TokenUsage, UrlCitation } from '../providers/index.ts'
import type { CompletionEvent, WholeCompletion } from './port.ts'

/** Fields that all chunks of one answer share. */
export interface AnswerIdentity {
  id: string
  createdSeconds: number
  model: string
}

export function renderCompletion(
  completion: WholeCompletion,
  { id, createdSeconds, model }: AnswerIdentity,
): CompletionBody {
  const refused = completion.refusal !== null && completion.text === ''
  return {
    id,
    object: 'chat.completion',
    created: createdSeconds,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: refused ? null : completion.text,
          refusal: completion.refusal,
          ...(completion.citations.length > 0 && { annotations: completion.citations.map(renderCitation) }),
        },
        logprobs: null,
        finish_reason: completion.finishReason,
      },
    ],
    usage: renderUsage(completion.usage),
  }
}

function renderCitation({ url, title, startIndex, endIndex }: UrlCitation): AnnotationBody {
  return { type: 'url_citation', url_citation: { start_index: startIndex, end_index: endIndex, url, title } }
}

export function renderUsage(usage: TokenUsage): CompletionUsageBody {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  }
}

/** Turns events into the data lines of the compatible API's stream: role first, deltas, finish, usage where asked, [DONE]. */
export function createChunkRenderer(identity: AnswerIdentity, { includeUsage }: { includeUsage: boolean }) {
  const usageField = includeUsage ? ',"usage":null' : ''
  const head = `data: {"id":${JSON.stringify(identity.id)},"object":"chat.completion.chunk","created":${identity.createdSeconds},"model":${JSON.stringify(identity.model)},`
  const choice = (delta: Record<string, unknown>, finishReason: FinishReason | null) =>
    `${head}"choices":[{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(finishReason)}}]${usageField}}\n\n`

  // Rendered once: nearly every chunk of an answer differs in its text only.
  const [textHead = '', textTail = ''] = choice({ content: '' }, null).split('""')

  return {
    role: () => choice({ role: 'assistant', content: '', refusal: null }, null),
    event(event: CompletionEvent): string {
      switch (event.type) {
        case 'text':
          return `${textHead}${JSON.stringify(event.text)}${textTail}`
        case 'refusal':
          return choice({ refusal: event.text }, null)
        case 'citations':
          return choice({ annotations: event.citations.map(renderCitation) }, null)
        case 'finish':
          return (
            choice({}, event.finishReason) +
            (includeUsage ? `${head}"choices":[],"usage":${JSON.stringify(renderUsage(event.usage))}}\n\n` : '') +
            'data: [DONE]\n\n'
          )
        // Hidden reasoning and tool calls are no part of the public format's first version.
        case 'reasoning':
        case 'tool_call':
        case 'replay':
          return ''
      }
    },
  }
}
