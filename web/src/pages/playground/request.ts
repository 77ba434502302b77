import type { CompletionUsageBody } from '@contract/gateway.ts'
import type { Attachment } from './attachments.ts'
import type { ToolDefinition } from './tool-definitions.ts'

/** The conversation of the playground, and the request of version 2 of the gateway that continues it. */

export interface RequestSettings {
  model: string
  system: string
  /** Undefined: the default of the provider. */
  temperature: number | undefined
  maximumTokens: number | undefined
  tools: readonly ToolDefinition[]
  /** Of the answer. */
  schema: Record<string, unknown> | undefined
}

export interface ToolCall {
  id: string
  name: string
  /** As the model writes them: while they arrive, and from some models at the end, they are not valid JSON. */
  arguments: string
}

/** How an answer compares with the schema of its request. */
export type Verdict = { matches: true } | { matches: false; place: string; rule: string }

export interface Answer {
  model: string
  text: string
  reasoning: string
  /** To be sent back with the results of the calls. */
  reasoningDetails: unknown[]
  calls: ToolCall[]
  verdict: Verdict | undefined
  state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed'
  error: { code: string; message: string; param: string | undefined } | undefined
  requestId: string | undefined
  /** From sending the request to the first text. */
  firstTextMs: number | undefined
  totalMs: number | undefined
  usage: CompletionUsageBody | undefined
}

export type TurnInput =
  | { kind: 'question'; text: string; attachments: readonly Attachment[] }
  /** Of the calls of the turn before, by their ids. */
  | { kind: 'results'; results: Readonly<Record<string, string>> }

export interface Turn {
  id: number
  input: TurnInput
  answer: Answer
}

export const blankAnswer: Answer = {
  model: '',
  text: '',
  reasoning: '',
  reasoningDetails: [],
  calls: [],
  verdict: undefined,
  state: 'waiting',
  error: undefined,
  requestId: undefined,
  firstTextMs: undefined,
  totalMs: undefined,
  usage: undefined,
}

/** A failed turn with results is sent again instead of kept: each call takes one result. */
export function withoutFailedResults(turns: Turn[]): Turn[] {
  const last = turns.at(-1)
  const isFailed = last?.input.kind === 'results' && last.answer.state === 'failed' && last.answer.text === ''
  return isFailed ? turns.slice(0, -1) : turns
}

/** Whether the model waits for the results of the last turn. */
export const isAwaitingResults = (turns: Turn[]) => {
  const answer = withoutFailedResults(turns).at(-1)?.answer
  return answer?.state === 'done' && answer.calls.length > 0
}

/** The attachments that are sent again with each request. */
export const attachmentsOf = (turns: Turn[]) =>
  turns.flatMap(({ input }) => (input.kind === 'question' ? input.attachments : []))

type UrlOf = (attachment: Attachment) => unknown

/** The fields of a request, without those that select a stream. `urlOf` is for code that reads files. */
export function requestBody(
  settings: RequestSettings,
  turns: Turn[],
  urlOf: UrlOf = ({ dataUrl }) => dataUrl,
): Record<string, unknown> {
  const { model, system, temperature, maximumTokens, tools, schema } = settings
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
      ...turns.flatMap(({ input, answer }, index) => [
        ...inputMessages(input, urlOf),
        ...answerMessages(answer, turns[index + 1]?.input),
      ]),
    ],
    ...(tools.length > 0 && { tools }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }),
    ...(temperature !== undefined && { temperature }),
    ...(maximumTokens !== undefined && { max_completion_tokens: maximumTokens }),
  }
}

/** With a schema the answer arrives whole: then a header names the place that does not match. */
export const isStreamed = ({ schema }: RequestSettings) => schema === undefined

function inputMessages(input: TurnInput, urlOf: UrlOf): object[] {
  if (input.kind === 'results')
    return Object.entries(input.results).map(([id, content]) => ({ role: 'tool', tool_call_id: id, content }))
  const { text, attachments } = input
  if (attachments.length === 0) return [{ role: 'user', content: text }]
  const content = [
    ...(text.trim() === '' ? [] : [{ type: 'text', text }]),
    ...attachments.map((attachment) =>
      attachment.kind === 'image'
        ? { type: 'image_url', image_url: { url: urlOf(attachment) } }
        : { type: 'file', file: { filename: attachment.name, file_data: urlOf(attachment) } },
    ),
  ]
  return [{ role: 'user', content }]
}

/** Calls without results are left out: a provider refuses them. */
function answerMessages({ text, calls, reasoning, reasoningDetails }: Answer, next: TurnInput | undefined): object[] {
  if (next?.kind !== 'results') return text === '' ? [] : [{ role: 'assistant', content: text }]
  const tool_calls = calls.map(({ id, name, arguments: json }) => ({
    id,
    type: 'function',
    function: { name, arguments: json },
  }))
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(reasoningDetails.length > 0 && { reasoning_details: reasoningDetails }),
      tool_calls,
    },
  ]
}
