import type { AnnotationBody } from '../../contract/gateway.ts'
import type { TokenUsage, UrlCitation } from '../providers/index.ts'
import type { CompletionEvent, WholeCompletion } from './port.ts'

/** Fields that all chunks of one answer share. */
export interface AnswerIdentity {
  id: string
  createdSeconds: number
  model: string
}

/** The JSON of `completionSchema`. Put together from text: only what comes from outside needs `JSON.stringify`. */
export function renderCompletion(
  { text, refusal, citations, finishReason, usage }: WholeCompletion,
  { id, createdSeconds, model }: AnswerIdentity,
): string {
  const isRefused = refusal !== null && text === ''
  const annotations = citations.length > 0 ? `,"annotations":${JSON.stringify(citations.map(renderCitation))}` : ''
  return (
    `{"id":${JSON.stringify(id)},"object":"chat.completion","created":${createdSeconds},"model":${JSON.stringify(model)},` +
    `"choices":[{"index":0,"message":{"role":"assistant","content":${isRefused ? 'null' : JSON.stringify(text)},` +
    `"refusal":${JSON.stringify(refusal)}${annotations}},"logprobs":null,"finish_reason":"${finishReason}"}],` +
    `"usage":${renderUsage(usage)}}`
  )
}

export function renderCitation({ url, title, startIndex, endIndex }: UrlCitation): AnnotationBody {
  return { type: 'url_citation', url_citation: { start_index: startIndex, end_index: endIndex, url, title } }
}

/** The JSON of a `CompletionUsageBody`. */
export function renderUsage({ promptTokens, completionTokens, cachedTokens, reasoningTokens }: TokenUsage): string {
  return (
    `{"prompt_tokens":${promptTokens},"completion_tokens":${completionTokens},"total_tokens":${promptTokens + completionTokens},` +
    `"prompt_tokens_details":{"cached_tokens":${cachedTokens}},"completion_tokens_details":{"reasoning_tokens":${reasoningTokens}}}`
  )
}

/** Turns events into the data lines of the compatible API's stream: role first, deltas, finish, usage where asked, [DONE]. */
export function createChunkRenderer(identity: AnswerIdentity, { includeUsage }: { includeUsage: boolean }) {
  const usageField = includeUsage ? ',"usage":null' : ''
  const head = `data: {"id":${JSON.stringify(identity.id)},"object":"chat.completion.chunk","created":${identity.createdSeconds},"model":${JSON.stringify(identity.model)},`
  const deltaHead = `${head}"choices":[{"index":0,"delta":`
  const deltaTail = `,"logprobs":null,"finish_reason":null}]${usageField}}\n\n`
  // Nearly every chunk of an answer differs in its text only.
  const textHead = `${deltaHead}{"content":`
  const textTail = `}${deltaTail}`

  return {
    role: () => `${deltaHead}{"role":"assistant","content":"","refusal":null}${deltaTail}`,
    event(event: CompletionEvent): string {
      switch (event.type) {
        case 'text':
          return `${textHead}${JSON.stringify(event.text)}${textTail}`
        case 'refusal':
          return `${deltaHead}{"refusal":${JSON.stringify(event.text)}}${deltaTail}`
        case 'citations':
          return `${deltaHead}${JSON.stringify({ annotations: event.citations.map(renderCitation) })}${deltaTail}`
        case 'finish':
          return (
            `${deltaHead}{},"logprobs":null,"finish_reason":"${event.finishReason}"}]${usageField}}\n\n` +
            (includeUsage ? `${head}"choices":[],"usage":${renderUsage(event.usage)}}\n\n` : '') +
            'data: [DONE]\n\n'
          )
        // Hidden reasoning, tool calls and several choices are no part of the public format's first version.
        default:
          return ''
      }
    },
  }
}
