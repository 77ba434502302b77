import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { PreviewSource } from '@contract/chat.ts'
import { ApiError, postJson } from '../../../api/client.ts'
import { collectText } from '../../../api/collect-text.ts'
import { errorText } from '../../../api/error-text.ts'
import { postEvents } from '../../../api/post-events.ts'
import { notifyError } from '../../../ui/notify.ts'
import { toFilterHeader } from '../../../ui/required-filter.tsx'
import { writeAsked } from '../../own-chats/asked-question.ts'
import { ownChatsKey, ownChatsPath } from '../../own-chats/own-chat-queries.ts'
import { loadKeptTurns } from './kept-turns.ts'
import { type ChatOptions, isRunning, startTurn, type Turn } from './turn.ts'

/** As the contract has it; the schemas of the module stay out of the page. */
const chatHeader = 'service-conversation'

/** A conversation with a Space; without an id it is not stored, and ends with the page. */
export interface ChatPlace {
  spaceId: string
  chatId: string | undefined
}

const keyOf = ({ spaceId, chatId }: ChatPlace) => ['chat-turns', spaceId, chatId ?? 'tab'] as const
const nameOf = (place: ChatPlace) => keyOf(place).join(' ')
const running = new Map<string, AbortController>()
/** How often a stored conversation is read while an answer is written for a page that was loaded again. */
const pollMs = 1_500

/**
 * The turns of a conversation; null where the person has none with this id. They stay in memory while the person looks at a cited document. Answers
 * that run continue meanwhile.
 */
export function useConversation(place: ChatPlace) {
  const { spaceId, chatId } = place
  const queryClient = useQueryClient()
  const { data: turns } = useQuery({
    queryKey: keyOf(place),
    queryFn: ({ signal }): Promise<Turn[] | null> => loadKeptTurns(spaceId, chatId!, signal),
    ...(chatId === undefined && { initialData: [] }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    enabled: chatId !== undefined,
    refetchInterval: ({ state }) => (state.data?.some(({ isElsewhere }) => isElsewhere) ? pollMs : false),
  })
  return useMemo(
    () => ({
      turns,
      isRunning: turns?.some(isRunning) ?? false,
      stop: () => stop({ spaceId, chatId }),
      /** Forgets what the page knows of the conversation. */
      clear: () => {
        abort({ spaceId, chatId })
        if (chatId === undefined) queryClient.setQueryData<Turn[]>(keyOf({ spaceId, chatId }), [])
        else queryClient.removeQueries({ queryKey: keyOf({ spaceId, chatId }) })
      },
    }),
    [queryClient, spaceId, chatId, turns],
  )
}

const abort = (place: ChatPlace) => running.get(nameOf(place))?.abort()

/** The answer of a stored conversation would continue without its page. */
function stop(place: ChatPlace): void {
  const { spaceId, chatId } = place
  if (chatId !== undefined) postJson(`${ownChatsPath(spaceId)}/${chatId}/stop`).catch(notifyError)
  abort(place)
}

/** Asks in a conversation. Resolves when its answer has ended. */
export async function ask(
  queryClient: QueryClient,
  place: ChatPlace,
  question: string,
  options: ChatOptions,
): Promise<void> {
  const key = keyOf(place)
  const { spaceId, chatId } = place
  const earlier = queryClient.getQueryData<Turn[] | null>(key) ?? []
  const turn = startTurn(question, options)
  queryClient.setQueryData<Turn[]>(key, [...earlier, turn])
  const note = (requestId?: string) => {
    if (chatId !== undefined) writeAsked(chatId, { question, requestId, startedAt: turn.startedAt })
  }
  note()
  const update = (change: Partial<Turn>) => {
    if (change.requestId !== undefined) note(change.requestId)
    queryClient.setQueryData<Turn[]>(key, (turns = []) =>
      turns.map((one) => (one.id === turn.id ? { ...one, ...change } : one)),
    )
  }
  const stopping = new AbortController()
  running.set(nameOf(place), stopping)
  const end = await readAnswer({ place, earlier, turn, signal: stopping.signal, update }).catch((error: unknown) =>
    stopping.signal.aborted ? { status: 'stopped' as const } : { status: 'failed' as const, error: toError(error) },
  )
  if (running.get(nameOf(place)) === stopping) running.delete(nameOf(place))
  update({ ...end, milliseconds: Date.now() - turn.startedAt })
  if (chatId === undefined) return
  // The answer may still be written, also when the page is being loaded again: the browser then ends its requests.
  if (end.error?.code !== 'no_connection') writeAsked(chatId, undefined)
  await queryClient.invalidateQueries({ queryKey: ownChatsKey(spaceId) })
}

interface Answering {
  place: ChatPlace
  earlier: readonly Turn[]
  turn: Turn
  signal: AbortSignal
  update: (change: Partial<Turn>) => void
}

/** Sends the conversation and passes on the answer while it arrives. Resolves to the last change of the turn. */
async function readAnswer({
  place: { spaceId, chatId },
  earlier,
  turn,
  signal,
  update,
}: Answering): Promise<Partial<Turn>> {
  const { headers, events } = await postEvents(
    `/api/spaces/${spaceId}/chat`,
    { messages: toMessages(earlier, turn.question), streaming: true },
    {
      signal,
      headers: {
        'service-enable-inline-sources': String(turn.options.inlineSources),
        'service-enable-agentic-workflow': String(turn.options.agentic),
        'service-enable-passage-references': 'true',
        'service-enable-finish-reason': 'true',
        ...(chatId !== undefined && { [chatHeader]: chatId }),
        ...(turn.options.filter && { 'service-document-filter': toFilterHeader(turn.options.filter) }),
      },
    },
  )
  update({
    requestId: headers.get('x-request-id') ?? undefined,
    hasTools: headers.get('x-agentic-workflow') !== 'unavailable',
  })
  let sources: PreviewSource[] = []
  const collected = collectText((text) => update({ text, status: 'writing' }))
  try {
    for await (const { event, data } of events) {
      const value = JSON.parse(data)
      if (event === 'assistant_write') collected.add(value.delta)
      else if (event === 'message_source') update({ sources: (sources = [...sources, value]) })
      else if (event === 'assistant_finish') update({ finishReason: value.finishReason })
      else if (event === 'references') update({ references: value.references })
      else if (event === 'citations') update({ citations: value })
      else if (event === 'cost') update({ cost: value })
      else if (event === 'error')
        return {
          text: collected.flush(),
          status: 'failed',
          error: { code: value.code, message: errorText(value.code, value.error) },
        }
      else if (event === 'done') return { text: collected.flush(), status: 'done' }
    }
  } finally {
    collected.flush()
  }
  return { status: 'failed', error: { code: 'no_connection', message: '' } }
}

/** The turns that have an answer, and the new question. */
function toMessages(earlier: readonly Turn[], question: string) {
  return [
    ...earlier
      .filter(({ text }) => text.trim() !== '')
      .flatMap(({ question: asked, text }) => [
        { role: 'user', content: asked },
        { role: 'assistant', content: text },
      ])
      // The server accepts 1,024 messages; the oldest would not fit into a model's context anyway.
      .slice(-1_000),
    { role: 'user', content: question },
  ]
}

function toError(error: unknown): { code: string; message: string } {
  if (error instanceof ApiError) return { code: error.code, message: error.message }
  // The connection broke while the answer was read.
  return { code: 'no_connection', message: '' }
}
