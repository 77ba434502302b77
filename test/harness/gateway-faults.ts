import { chatAnswer, chatStream, chatStreamBody, errorAnswer, garbage, hugeAnswer } from '../upstream/replies.ts'
import { quotaUsedUp, rateLimited, webPage } from '../upstream/replies.ts'
import type { UpstreamReply } from '../upstream/upstream.ts'

/** The table of provider faults that gateway-faults.test.ts runs. */

export const providerKey = 'sk-stage-0123456789abcdefghijklmnop'
/** undici rounds limits below a second up, and loaded machines need more. */
export const limitMs = 1000
export const largestAnswerBytes = 64 * 1024

/** Each fault has a separate model, so that circuit breakers do not mix them up. */
interface Fault {
  name: string
  reply: UpstreamReply | (() => UpstreamReply)
  /** Of a plain call, and of a stream unless `streamed` differs. */
  status: number
  code: string | null
  type: string
  param?: string | null
  retryAfter?: RegExp
  message?: RegExp
  /** Calls that reach the provider: 1 where a repetition would be wrong. */
  attempts: number
  /** Uses the provider with short limits of time and size. */
  hasty?: boolean
  /** Runs only plain or only streamed. */
  only?: 'plain' | 'stream'
  /** The upstream keeps the connection until the gateway closes it. */
  hangs?: boolean
}

const ours = { status: 502, code: 'upstream_error', type: 'api_error' }
const late = { status: 504, code: 'upstream_timeout', type: 'api_error' }
const limited = { status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' }
const invalid = { status: 400, type: 'invalid_request_error' }
export const eventStream = { 'content-type': 'text/event-stream' }
const json = { 'content-type': 'application/json' }

export const faults: Fault[] = [
  { name: 'says nothing at all', reply: { headersAfterMs: 'never' }, ...late, attempts: 1, hasty: true, hangs: true },
  { name: 'closes the connection without an answer', reply: { resetAfterBytes: 0 }, ...ours, attempts: 1 },
  { name: 'answers with a web page', reply: webPage(), ...ours, attempts: 1 },
  { name: 'answers 502 with a web page', reply: webPage(502), ...ours, attempts: 3 },
  { name: 'redirects', reply: { status: 302, headers: { location: 'http://elsewhere.test/' } }, ...ours, attempts: 1 },
  { name: 'answers JSON that breaks off', reply: { ...chatAnswer('Hello'), endAfterBytes: 40 }, ...ours, attempts: 1 },
  {
    name: 'closes in the middle of a plain answer',
    reply: { ...chatAnswer('Hello'), resetAfterBytes: 40 },
    ...ours,
    attempts: 1,
    only: 'plain',
  },
  {
    name: 'stalls in the middle of a plain answer',
    reply: { ...chatAnswer('Hello'), stallAfterBytes: 40 },
    ...late,
    attempts: 1,
    only: 'plain',
    hasty: true,
    hangs: true,
  },
  {
    name: 'answers garbage as JSON',
    reply: garbage(2000, 'application/json'),
    ...ours,
    attempts: 1,
    only: 'plain',
  },
  { name: 'answers JSON of another kind', reply: { headers: json, body: '{"ok":true}' }, ...ours, attempts: 1 },
  { name: 'answers an empty body', reply: { headers: json, body: '' }, ...ours, attempts: 1, only: 'plain' },
  {
    name: 'answers more than the limit',
    reply: hugeAnswer(2 * largestAnswerBytes),
    ...ours,
    attempts: 1,
    hasty: true,
  },
  {
    name: 'refuses our key (401)',
    reply: errorAnswer(401, { message: `Incorrect API key provided: ${providerKey}.`, code: 'invalid_api_key' }),
    ...ours,
    message: /operator/,
    attempts: 1,
  },
  { name: 'refuses our account (403)', reply: errorAnswer(403), ...ours, message: /operator/, attempts: 1 },
  { name: 'has our account empty (429 insufficient_quota)', reply: quotaUsedUp(), ...ours, attempts: 1 },
  {
    name: 'has our account suspended (412)',
    reply: errorAnswer(412, { message: 'Account acme is suspended, possibly due to failure to pay past invoices.' }),
    ...ours,
    attempts: 1,
  },
  { name: 'wants to be paid (402)', reply: errorAnswer(402, { message: 'Payment required' }), ...ours, attempts: 1 },
  {
    name: 'does not know the model (404)',
    reply: errorAnswer(404, { message: 'The model `x` does not exist', code: 'model_not_found' }),
    ...ours,
    attempts: 1,
  },
  { name: 'limits without a hint', reply: rateLimited('none', 0), ...limited, retryAfter: /^1$/, attempts: 1 },
  ...(['retry-after', 'retry-after-ms', 'reset-header', 'in-words'] as const).map((hint) => ({
    name: `limits with ${hint}`,
    reply: rateLimited(hint, 17),
    ...limited,
    retryAfter: /^17$/,
    attempts: 1,
  })),
  {
    name: 'limits with a date',
    reply: () => rateLimited('retry-after-date', 40),
    ...limited,
    // Whole seconds on the wire, less what the call took.
    retryAfter: /^(3\d|40)$/,
    attempts: 1,
  },
  ...[500, 502, 503, 529].map((status) => ({
    name: `fails with ${status} each time`,
    reply: errorAnswer(status),
    ...ours,
    attempts: 3,
  })),
  {
    name: 'asks for a long pause with 503',
    reply: errorAnswer(503, {}, { 'retry-after': '30' }),
    ...ours,
    retryAfter: /^30$/,
    attempts: 1,
  },
  { name: 'gave up itself (504)', reply: errorAnswer(504), ...late, attempts: 1 },
  {
    name: 'finds the prompt too long',
    reply: errorAnswer(400, {
      message: "This model's maximum context length is 8192 tokens.",
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    }),
    ...invalid,
    code: 'context_length_exceeded',
    param: 'messages',
    message: /8192 tokens/,
    attempts: 1,
  },
  {
    name: 'rejects a field, naming its key',
    reply: errorAnswer(400, {
      message: `Unsupported value: 'temperature' (key ${providerKey}, sent to Bearer ${providerKey}).`,
      type: 'invalid_request_error',
      param: 'temperature',
    }),
    ...invalid,
    code: null,
    param: 'temperature',
    message: /rejected the request: Unsupported value: 'temperature'/,
    attempts: 1,
  },
  {
    name: 'filters the prompt',
    reply: errorAnswer(400, { message: 'Flagged by our policy.', code: 'content_filter' }),
    ...invalid,
    code: 'content_filter',
    param: 'messages',
    attempts: 1,
  },
  {
    name: 'puts an error into a plain 200',
    reply: {
      headers: json,
      body: JSON.stringify({ error: { message: 'The server had an error', type: 'server_error' } }),
    },
    ...ours,
    attempts: 3,
    only: 'plain',
  },
  {
    name: 'puts an overload where a stream should begin',
    reply: {
      headers: eventStream,
      body: `data: ${JSON.stringify({ error: { message: 'Overloaded', type: 'overloaded_error', code: 529 } })}\n\n`,
    },
    ...ours,
    attempts: 3,
    only: 'stream',
  },
]

const names = ['the first piece', ' of an answer', ' that never', ' comes', ' to its end']
export const whole = chatStreamBody(names)
/** Offset after this many words of the stream (the role chunk is first). */
export const behindWords = (words: number) =>
  whole
    .split('\n\n')
    .slice(0, words + 1)
    .join('\n\n').length + 2

interface MidFault {
  name: string
  reply: UpstreamReply
  code: string
  text: string
  hasty?: boolean
  hangs?: boolean
}

const broken = { code: 'upstream_error', text: 'the first piece of an answer' }
export const midFaults: MidFault[] = [
  {
    name: 'stalls',
    reply: { headers: eventStream, body: whole, stallAfterBytes: behindWords(2) },
    ...broken,
    code: 'upstream_timeout',
    hasty: true,
    hangs: true,
  },
  { name: 'ends too early', reply: { headers: eventStream, body: whole, endAfterBytes: behindWords(2) }, ...broken },
  {
    name: 'closes inside a frame',
    reply: { headers: eventStream, body: whole, resetAfterBytes: behindWords(2) + 20 },
    ...broken,
  },
  {
    name: 'sends an error object',
    reply: {
      headers: eventStream,
      body: `${whole.slice(0, behindWords(2))}data: ${JSON.stringify({ error: { message: `key ${providerKey} is overloaded`, type: 'overloaded_error' } })}\n\n`,
      // After the beginning of the answer, in a separate read.
      cuts: [behindWords(2)],
      pauseBetweenWritesMs: 20,
    },
    ...broken,
  },
  {
    name: 'sends a frame of garbage',
    reply: {
      headers: eventStream,
      body: `${whole.slice(0, behindWords(2))}data: {"choices": oops\n\ndata: [DONE]\n\n`,
    },
    ...broken,
  },
  {
    name: 'sends more than the limit',
    reply: chatStream(['the first piece', ' of an answer', ...Array.from({ length: 60 }, () => 'x'.repeat(2000))]),
    code: 'upstream_error',
    text: '',
    hasty: true,
  },
]
