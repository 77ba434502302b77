import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { ChatAnswer, PreviewCitations, PreviewCost, PreviewSource, Reference } from '@contract/chat.ts'
import type { MetadataFilter } from '@contract/metadata-filter.ts'
import { ApiError } from '../../../api/client.ts'
import { collectText } from '../../../api/collect-text.ts'
import { errorText } from '../../../api/error-text.ts'
import { postEvents } from '../../../api/post-events.ts'
import { toFilterHeader } from '../../../ui/required-filter.tsx'

export interface ChatOptions {
  /** Markers in the text that name passages. */
  inlineSources: boolean
  /** The model may call tools: search, read documents, query tables, calculate. */
  agentic: boolean
  /** Undefined where the Space requires none. */
  filter?: MetadataFilter | undefined
}

/** One question and its answer. */
export interface Turn {
  id: string
  question: string
  options: ChatOptions
  status: 'waiting' | 'writing' | 'done' | 'stopped' | 'failed'
  text: string
  sources: PreviewSource[]
  /** Why the text ended. */
  finishReason: ChatAnswer['finishReason']
  /** Undefined until the answer is complete. */
  references: Reference[] | undefined
  /** What the check of the citations did; for administrators. */
  citations: PreviewCitations | undefined
  cost: PreviewCost | undefined
  /** False where tools were wanted and the model has none. */
  hasTools: boolean
  requestId: string | undefined
  error: { code: string; message: string } | undefined
  startedAt: number
  milliseconds: number | undefined
}

const keyOf = (spaceId: string) => ['conversation', spaceId]
const running = new Map<string, AbortController>()

/**
 * The conversation with a Space. It is kept while the person looks at a cited document, and until the page is reloaded or the session
 * ends. Answers that run continue meanwhile.
 */
export function useConversation(spaceId: string) {
  const queryClient = useQueryClient()
  const { data: turns } = useQuery({
    queryKey: keyOf(spaceId),
    queryFn: (): Turn[] => [],
    initialData: [],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    enabled: false,
  })
  return useMemo(() => {
    const stop = () => running.get(spaceId)?.abort()
    return {
      turns,
      isRunning: turns.some(isRunning),
      ask: (question: string, options: ChatOptions) => void ask(queryClient, spaceId, question, options),
      stop,
      clear: () => {
        stop()
        queryClient.setQueryData<Turn[]>(keyOf(spaceId), [])
      },
    }
  }, [queryClient, spaceId, turns])
}

export const isRunning = ({ status }: Turn) => status === 'waiting' || status === 'writing'

async function ask(queryClient: QueryClient, spaceId: string, question: string, options: ChatOptions): Promise<void> {
  const earlier = queryClient.getQueryData<Turn[]>(keyOf(spaceId)) ?? []
  const turn = startTurn(question, options)
  queryClient.setQueryData<Turn[]>(keyOf(spaceId), [...earlier, turn])
  const update = (change: Partial<Turn>) =>
    queryClient.setQueryData<Turn[]>(keyOf(spaceId), (turns = []) =>
      turns.map((one) => (one.id === turn.id ? { ...one, ...change } : one)),
    )
  const stopping = new AbortController()
  running.set(spaceId, stopping)
  const end = await readAnswer({ spaceId, earlier, turn, signal: stopping.signal, update }).catch((error: unknown) =>
    stopping.signal.aborted ? { status: 'stopped' as const } : { status: 'failed' as const, error: toError(error) },
  )
  if (running.get(spaceId) === stopping) running.delete(spaceId)
  update({ ...end, milliseconds: Date.now() - turn.startedAt })
}

function startTurn(question: string, options: ChatOptions): Turn {
  return {
    id: crypto.randomUUID(),
    question,
    options,
    status: 'waiting',
    text: '',
    sources: [],
    finishReason: undefined,
    references: undefined,
    citations: undefined,
    cost: undefined,
    hasTools: true,
    requestId: undefined,
    error: undefined,
    startedAt: Date.now(),
    milliseconds: undefined,
  }
}

interface Answering {
  spaceId: string
  earlier: readonly Turn[]
  turn: Turn
  signal: AbortSignal
  update: (change: Partial<Turn>) => void
}

/** Sends the conversation and passes on the answer while it arrives. Resolves to the last change of the turn. */
async function readAnswer({ spaceId, earlier, turn, signal, update }: Answering): Promise<Partial<Turn>> {
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
