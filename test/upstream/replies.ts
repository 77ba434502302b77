import type { UpstreamReply } from './upstream.ts'

/** Replies of an OpenAI-compatible host, valid and invalid. */

const json = { 'content-type': 'application/json' }
const eventStream = { 'content-type': 'text/event-stream' }

interface AnswerOptions {
  model?: string
  finishReason?: string
  usage?: { prompt_tokens: number; completion_tokens: number } | null
}

const defaultUsage = { prompt_tokens: 11, completion_tokens: 7 }

/** A complete completion. */
export function chatAnswer(text: string, options: AnswerOptions = {}): UpstreamReply {
  return {
    headers: json,
    body: JSON.stringify({
      id: 'chatcmpl-upstream',
      object: 'chat.completion',
      created: 1_750_000_000,
      model: options.model ?? 'upstream-model',
      choices: [
        { index: 0, message: { role: 'assistant', content: text }, finish_reason: options.finishReason ?? 'stop' },
      ],
      ...withUsage(options),
    }),
  }
}

/** A streamed completion, one chunk per word. */
export function chatStream(words: readonly string[], options: AnswerOptions = {}): UpstreamReply {
  return { headers: eventStream, body: chatStreamBody(words, options) }
}

export function chatStreamBody(words: readonly string[], options: AnswerOptions = {}): string {
  const head = {
    id: 'chatcmpl-upstream',
    object: 'chat.completion.chunk',
    created: 1_750_000_000,
    model: options.model ?? 'upstream-model',
  }
  const choice = (delta: object, finishReason: string | null) => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    usage: null,
  })
  const chunks: object[] = [
    choice({ role: 'assistant', content: '', refusal: null }, null),
    ...words.map((word) => choice({ content: word }, null)),
    choice({}, options.finishReason ?? 'stop'),
  ]
  const { usage } = withUsage(options)
  if (usage) chunks.push({ ...head, choices: [], usage })
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'].join('')
}

function withUsage({ usage = defaultUsage }: AnswerOptions) {
  return usage === null ? {} : { usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens } }
}

export function errorAnswer(
  status: number,
  error: { message?: string; type?: string; code?: string | null; param?: string | null } = {},
  headers: Record<string, string> = {},
): UpstreamReply {
  return {
    status,
    headers: { ...json, ...headers },
    body: JSON.stringify({
      error: {
        message: error.message ?? `The upstream answers ${status}.`,
        type: error.type ?? 'server_error',
        param: error.param ?? null,
        code: error.code ?? null,
      },
    }),
  }
}

/** 429 with each kind of retry-after that providers send. */
export function rateLimited(
  hint: 'none' | 'retry-after' | 'retry-after-date' | 'retry-after-ms' | 'reset-header' | 'in-words' | 'retry-info',
  seconds: number,
  nowMs: number = Date.now(),
): UpstreamReply {
  const error = { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Too many requests.' }
  switch (hint) {
    case 'none':
      return errorAnswer(429, error)
    case 'retry-after':
      return errorAnswer(429, error, { 'retry-after': String(seconds) })
    case 'retry-after-date':
      return errorAnswer(429, error, { 'retry-after': new Date(nowMs + seconds * 1000).toUTCString() })
    case 'retry-after-ms':
      return errorAnswer(429, error, { 'retry-after-ms': String(seconds * 1000) })
    case 'reset-header':
      return errorAnswer(429, error, {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': `${seconds}s`,
      })
    case 'in-words':
      return errorAnswer(429, { ...error, message: `Rate limit reached. Please try again in ${seconds}s.` })
    case 'retry-info':
      return {
        status: 429,
        headers: json,
        body: JSON.stringify({
          error: {
            code: 429,
            message: 'Resource has been exhausted.',
            status: 'RESOURCE_EXHAUSTED',
            details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` }],
          },
        }),
      }
  }
}

/** An account limit: a 429 that must not be retried at the same provider. */
export function quotaUsedUp(): UpstreamReply {
  return errorAnswer(429, { type: 'insufficient_quota', code: 'insufficient_quota', message: 'Your quota is used up.' })
}

/** The page of a failing proxy, or the sign-in page of a network. */
export function webPage(status = 200): UpstreamReply {
  return { status, headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Sign in</title>' }
}

/** Bytes that are neither JSON nor events; equal for equal seeds. */
export function garbage(bytes: number, contentType: string, seed = 1): UpstreamReply {
  const body = Buffer.alloc(bytes)
  let state = seed >>> 0
  for (let index = 0; index < bytes; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    body[index] = state >>> 24
  }
  return { headers: { 'content-type': contentType }, body }
}

/** One answer with a text of that length. */
export function hugeAnswer(textBytes: number): UpstreamReply {
  return chatAnswer('x'.repeat(textBytes))
}
