import type { CompletionUsageBody } from '@contract/gateway.ts'
import { useCallback, useEffect, useReducer, useRef } from 'react'
import { ApiError } from '../../api/client.ts'
import { collectText } from '../../api/collect-text.ts'
import { errorText } from '../../api/error-text.ts'
import { postEvents } from '../../api/post-events.ts'

export interface PlaygroundSettings {
  model: string
  system: string
  /** Undefined: the default of the provider. */
  temperature: number | undefined
  maximumTokens: number | undefined
}

export interface Answer {
  model: string
  text: string
  state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed'
  error: { code: string; message: string } | undefined
  requestId: string | undefined
  /** From sending the request to the first text. */
  firstTextMs: number | undefined
  totalMs: number | undefined
  usage: CompletionUsageBody | undefined
}

export interface Turn {
  id: number
  question: string
  answer: Answer
}

type Action =
  | { type: 'ask'; turn: Turn }
  | { type: 'change'; id: number; change: (answer: Answer) => Partial<Answer> }
  | { type: 'clear' }

function reduce(turns: Turn[], action: Action): Turn[] {
  if (action.type === 'clear') return []
  if (action.type === 'ask') return [...turns, action.turn]
  return turns.map((turn) =>
    turn.id === action.id ? { ...turn, answer: { ...turn.answer, ...action.change(turn.answer) } } : turn,
  )
}

/** A conversation with the gateway, held in this page only. */
export function useConversation(organisationId: string) {
  const [turns, dispatch] = useReducer(reduce, [])
  const running = useRef<AbortController>(undefined)
  const nextId = useRef(1)
  const stop = useCallback(() => running.current?.abort(), [])
  useEffect(() => stop, [stop])

  const ask = useCallback(
    async (question: string, settings: PlaygroundSettings, earlier: Turn[]) => {
      const controller = new AbortController()
      running.current = controller
      const id = nextId.current++
      const answer: Answer = { ...blankAnswer, model: settings.model }
      dispatch({ type: 'ask', turn: { id, question, answer } })
      const startedMs = performance.now()
      const change = (made: (answer: Answer) => Partial<Answer>) => dispatch({ type: 'change', id, change: made })
      try {
        const path = `/api/organisations/${organisationId}/chat/completions`
        const { headers, events } = await postEvents(path, requestBody(question, settings, earlier), {
          signal: controller.signal,
        })
        change(() => ({ requestId: headers.get('x-request-id') ?? undefined, state: 'streaming' }))
        await readAnswer(events, startedMs, change)
      } catch (error) {
        change(() => failureOf(error, controller.signal))
      } finally {
        change(() => ({ totalMs: performance.now() - startedMs }))
        if (running.current === controller) running.current = undefined
      }
    },
    [organisationId],
  )
  const clear = useCallback(() => {
    stop()
    dispatch({ type: 'clear' })
  }, [stop])
  const last = turns.at(-1)?.answer.state
  return { turns, ask, stop, clear, isRunning: last === 'waiting' || last === 'streaming' }
}

const blankAnswer: Answer = {
  model: '',
  text: '',
  state: 'waiting',
  error: undefined,
  requestId: undefined,
  firstTextMs: undefined,
  totalMs: undefined,
  usage: undefined,
}

/** The conversation so far; a question without an answer stays in it, as in a chat. */
function requestBody(question: string, settings: PlaygroundSettings, earlier: Turn[]) {
  const { model, system, temperature, maximumTokens } = settings
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
      ...earlier.flatMap(({ question: asked, answer }) => [
        { role: 'user', content: asked },
        ...(answer.text === '' ? [] : [{ role: 'assistant', content: answer.text }]),
      ]),
      { role: 'user', content: question },
    ],
    ...(temperature === undefined ? {} : { temperature }),
    ...(maximumTokens === undefined ? {} : { max_completion_tokens: maximumTokens }),
    stream: true,
    stream_options: { include_usage: true },
  }
}

interface Chunk {
  choices?: { delta: { content?: string; refusal?: string | null } }[]
  usage?: CompletionUsageBody | null
  error?: { code: string | null; message: string }
}

async function readAnswer(
  events: AsyncIterable<{ data: string }>,
  startedMs: number,
  change: (made: (answer: Answer) => Partial<Answer>) => void,
): Promise<void> {
  const collected = collectText((text) => {
    const sinceStart = performance.now() - startedMs
    change((answer) => ({ text, firstTextMs: answer.firstTextMs ?? sinceStart }))
  })
  try {
    for await (const { data } of events) {
      if (data === '[DONE]') {
        collected.flush()
        change(() => ({ state: 'done' }))
        return
      }
      const { choices = [], usage, error } = JSON.parse(data) as Chunk
      if (error) throw streamError(error)
      collected.add(choices[0]?.delta.content ?? choices[0]?.delta.refusal ?? '')
      if (usage) change(() => ({ usage }))
    }
  } finally {
    collected.flush()
  }
  throw new ApiError({ status: 200, code: 'incomplete', message: '' })
}

function streamError({ code, message }: NonNullable<Chunk['error']>): ApiError {
  const known = code ?? 'invalid_request'
  return new ApiError({ status: 200, code: known, message: errorText(known, message) })
}

function failureOf(error: unknown, signal: AbortSignal): Partial<Answer> {
  if (signal.aborted) return { state: 'stopped' }
  if (error instanceof ApiError)
    return {
      state: 'failed',
      error: { code: error.code, message: error.message },
      ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
    }
  // The connection was lost in the middle of the answer.
  return { state: 'failed', error: { code: 'incomplete', message: '' } }
}
