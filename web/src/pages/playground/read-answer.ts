import type { CompletionUsageBody } from '@contract/gateway.ts'
import { ApiError } from '../../api/client.ts'
import { collectText } from '../../api/collect-text.ts'
import { errorText } from '../../api/error-text.ts'
import type { Answer, ToolCall, Verdict } from './request.ts'

export type ChangeAnswer = (made: (answer: Answer) => Partial<Answer>) => void

interface Message {
  content?: string | null
  refusal?: string | null
  reasoning_content?: string
  reasoning_details?: unknown[]
}

interface ToolCallDelta {
  index: number
  id?: string
  function?: { name?: string; arguments?: string }
}

interface Chunk {
  choices?: { delta: Message & { tool_calls?: ToolCallDelta[] } }[]
  usage?: CompletionUsageBody | null
  error?: { code: string | null; message: string; param?: string | null }
}

/** Reads a stream into the answer while it arrives. Throws ApiError if it fails or ends too early. */
export async function readStream(
  events: AsyncIterable<{ data: string }>,
  startedMs: number,
  change: ChangeAnswer,
): Promise<void> {
  const noteFirst = (made: Partial<Answer>) => {
    const sinceStart = performance.now() - startedMs
    change((answer) => ({ ...made, firstTextMs: answer.firstTextMs ?? sinceStart }))
  }
  const text = collectText((all) => noteFirst({ text: all }))
  const reasoning = collectText((all) => change(() => ({ reasoning: all })))
  const calls = collectCalls(change, noteFirst)
  const flush = () => {
    for (const collected of [text, reasoning, calls]) collected.flush()
  }
  try {
    for await (const { data } of events) {
      if (data === '[DONE]') {
        flush()
        change(() => ({ state: 'done' }))
        return
      }
      const { choices = [], usage, error } = JSON.parse(data) as Chunk
      if (error) throw streamError(error)
      const { delta } = choices[0] ?? { delta: {} }
      text.add(delta.content ?? delta.refusal ?? '')
      reasoning.add(delta.reasoning_content ?? '')
      for (const call of delta.tool_calls ?? []) calls.add(call)
      const { reasoning_details: details } = delta
      if (details) change(({ reasoningDetails }) => ({ reasoningDetails: [...reasoningDetails, ...details] }))
      if (usage) change(() => ({ usage }))
    }
  } finally {
    flush()
  }
  throw new ApiError({ status: 200, code: 'incomplete', message: '' })
}

/** The arguments of each call, as they arrive. */
function collectCalls(change: ChangeAnswer, noteFirst: (made: Partial<Answer>) => void) {
  const collected = new Map<number, ReturnType<typeof collectText>>()
  const set = (index: number, made: Partial<ToolCall>) =>
    change(({ calls }) => ({
      calls: calls.map((call, position) => (position === index ? { ...call, ...made } : call)),
    }))
  return {
    add({ index, id, function: of }: ToolCallDelta): void {
      if (!collected.has(index)) {
        const position = collected.size
        collected.set(
          index,
          collectText((all) => set(position, { arguments: all })),
        )
        noteFirst({})
        change(({ calls }) => ({ calls: [...calls, { id: id ?? '', name: of?.name ?? '', arguments: '' }] }))
      }
      collected.get(index)!.add(of?.arguments ?? '')
    },
    flush(): void {
      for (const one of collected.values()) one.flush()
    },
  }
}

interface WholeAnswer {
  choices: { message: Message & { tool_calls?: { id: string; function: { name: string; arguments: string } }[] } }[]
  usage: CompletionUsageBody
}

/** An answer that was not streamed, with the verdict on its schema. */
export async function readWhole(response: Response): Promise<Partial<Answer>> {
  const { choices, usage } = (await response.json()) as WholeAnswer
  const { content, refusal, reasoning_content, reasoning_details, tool_calls = [] } = choices[0]!.message
  return {
    state: 'done',
    text: content || refusal || '',
    reasoning: reasoning_content ?? '',
    reasoningDetails: reasoning_details ?? [],
    calls: tool_calls.map(({ id, function: { name, arguments: json } }) => ({ id, name, arguments: json })),
    usage,
    verdict: content ? readVerdict(response.headers.get('x-portico-schema-mismatch')) : undefined,
  }
}

/** The header has the place and the keyword of the schema: `/city type`. */
function readVerdict(header: string | null): Verdict {
  if (header === null) return { matches: true }
  const space = header.lastIndexOf(' ')
  return { matches: false, place: header.slice(0, space), rule: header.slice(space + 1) }
}

function streamError({ code, message, param }: NonNullable<Chunk['error']>): ApiError {
  const known = code ?? 'invalid_request'
  return new ApiError({ status: 200, code: known, message: errorText(known, message), param: param ?? undefined })
}

/** The state of an answer that an error has ended. */
export function failureOf(error: unknown, signal: AbortSignal): Partial<Answer> {
  if (signal.aborted) return { state: 'stopped' }
  if (error instanceof ApiError) {
    const { code, message, param, requestId } = error
    return { state: 'failed', error: { code, message, param }, ...(requestId !== undefined && { requestId }) }
  }
  // The connection was lost in the middle of the answer.
  return { state: 'failed', error: { code: 'incomplete', message: '', param: undefined } }
}
