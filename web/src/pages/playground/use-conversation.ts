import { useCallback, useEffect, useReducer, useRef } from 'react'
import { send } from '../../api/client.ts'
import { postEvents } from '../../api/post-events.ts'
import { type ChangeAnswer, failureOf, readStream, readWhole } from './read-answer.ts'
import {
  type Answer,
  blankAnswer,
  isStreamed,
  requestBody,
  type RequestSettings,
  type Turn,
  type TurnInput,
} from './request.ts'

type Action =
  | { type: 'ask'; turns: Turn[] }
  | { type: 'change'; id: number; change: (answer: Answer) => Partial<Answer> }
  | { type: 'clear' }

function reduce(turns: Turn[], action: Action): Turn[] {
  if (action.type === 'clear') return []
  if (action.type === 'ask') return action.turns
  return turns.map((turn) =>
    turn.id === action.id ? { ...turn, answer: { ...turn.answer, ...action.change(turn.answer) } } : turn,
  )
}

/** A conversation with version 2 of the gateway, held in this page only. */
export function useConversation(organisationId: string) {
  const [turns, dispatch] = useReducer(reduce, [])
  const running = useRef<AbortController>(undefined)
  const nextId = useRef(1)
  const stop = useCallback(() => running.current?.abort(), [])
  useEffect(() => stop, [stop])

  /** Adds a turn after `earlier` turns, and reads its answer. */
  const ask = useCallback(
    async (input: TurnInput, settings: RequestSettings, earlier: Turn[]) => {
      const controller = new AbortController()
      running.current = controller
      const id = nextId.current++
      const asked = [...earlier, { id, input, answer: { ...blankAnswer, model: settings.model } }]
      dispatch({ type: 'ask', turns: asked })
      const startedMs = performance.now()
      const change: ChangeAnswer = (made) => dispatch({ type: 'change', id, change: made })
      try {
        const path = `/api/organisations/${organisationId}/v2/chat/completions`
        await readAnswer(path, requestBody(settings, asked), isStreamed(settings), controller.signal, startedMs, change)
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

async function readAnswer(
  path: string,
  body: object,
  streamed: boolean,
  signal: AbortSignal,
  startedMs: number,
  change: ChangeAnswer,
): Promise<void> {
  if (!streamed) {
    const response = await send('POST', path, body, { signal })
    const whole = await readWhole(response)
    change(() => ({ requestId: response.headers.get('x-request-id') ?? undefined, ...whole }))
    return
  }
  const options = { stream: true, stream_options: { include_usage: true } }
  const { headers, events } = await postEvents(path, { ...body, ...options }, { signal })
  change(() => ({ requestId: headers.get('x-request-id') ?? undefined, state: 'streaming' }))
  await readStream(events, startedMs, change)
}
