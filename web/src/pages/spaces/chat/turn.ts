import type { ChatAnswer, PreviewCitations, PreviewCost, PreviewSource, Reference } from '@contract/chat.ts'
import type { MetadataFilter } from '@contract/metadata-filter.ts'
import type { OwnChatTurnBody } from '@contract/own-chats.ts'

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
  /** The page was loaded again meanwhile: the answer appears when it is stored. */
  isElsewhere: boolean
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

export const isRunning = ({ status }: Turn) => status === 'waiting' || status === 'writing'

export function startTurn(question: string, options: ChatOptions): Turn {
  return {
    id: crypto.randomUUID(),
    question,
    options,
    status: 'waiting',
    isElsewhere: false,
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

const statusOf = { complete: 'done', failed: 'failed', left: 'stopped' } as const

/** A stored turn has neither its options nor its cost. */
export function toTurn(stored: OwnChatTurnBody): Turn {
  const { requestId, question, answer, references, sources, outcome, errorCode, at, totalMs } = stored
  return {
    ...startTurn(question, { inlineSources: true, agentic: false }),
    id: requestId,
    requestId,
    status: statusOf[outcome],
    text: answer,
    sources: sources.map((source) => ({ ...source, documents: [] })),
    references: outcome === 'complete' ? references : undefined,
    error: outcome === 'failed' ? { code: errorCode ?? '', message: '' } : undefined,
    startedAt: Date.parse(at),
    milliseconds: totalMs,
  }
}
