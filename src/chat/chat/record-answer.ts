import type { Receipt } from '../../gateway/billing/index.ts'
import { AppError } from '../../platform/kernel/index.ts'
import type { AnswerEvent, SearchReport } from './answer.ts'
import type { AnswerCall } from './port.ts'
import type { DocumentReference } from './references.ts'

/** The conversation of a person in the console. */
export interface ChatOfPerson {
  id: string
  personId: string
}

/** What became of an answer, for the stored conversations of its Space. */
export interface RecordedAnswer {
  /** `left`: the client closed its connection before the end. */
  outcome: 'complete' | 'failed' | 'left'
  errorCode: string | null
  text: string
  references: DocumentReference[]
  sources: { source: string; status: string; count: number; query: string | null; milliseconds: number }[]
  receipts: Receipt[]
  firstTextMs: number | null
  totalMs: number
}

/** Begins the record of one answer. Neither this function nor the one that it returns throws or waits. */
export type BeginRecord = (asked: {
  requestId: string
  organisationId: string
  spaceId: string
  user: string | null
  messages: AnswerCall['messages']
  model: string
  chat?: ChatOfPerson | undefined
}) => (answer: RecordedAnswer) => void

/** An answer that is kept in a conversation of the console: it continues when its reader has left. */
export interface KeptAnswer {
  chat: ChatOfPerson
  /** Ends the answer. */
  signal: AbortSignal
  /** The conversation was deleted: the answer is not stored. */
  isDiscarded(): boolean
}

/** Follows one answer of a Space that keeps conversations. */
export type AnswerRecord = ReturnType<typeof startRecord>

export function startRecord(
  begin: BeginRecord,
  call: AnswerCall,
  { user, kept, codeOf }: { user: string | null; kept?: KeptAnswer | undefined; codeOf: (error: unknown) => string },
) {
  const { requestId, organisation, space, messages, signal } = call
  const startMs = performance.now()
  const elapsedMs = () => Math.round(performance.now() - startMs)
  const end = begin({
    requestId,
    organisationId: organisation.id,
    spaceId: space.id,
    user,
    messages,
    model: space.model,
    chat: kept?.chat,
  })
  const answer: Omit<RecordedAnswer, 'outcome' | 'errorCode' | 'totalMs'> = {
    text: '',
    references: [],
    sources: [],
    receipts: [],
    firstTextMs: null,
  }
  const endAs = (outcome: RecordedAnswer['outcome'], errorCode: string | null = null) =>
    kept?.isDiscarded() || end({ ...answer, outcome, errorCode, totalMs: elapsedMs() })
  /** The answer did not begin, or ended early. */
  const fail = (error: unknown): void => {
    if (error instanceof AppError && error.code !== 'client_closed') endAs('failed', error.code)
    else if (signal.aborted) endAs('left')
    else endAs('failed', codeOf(error))
  }

  /** The events as they are. The record ends with them. */
  async function* follow(events: AsyncIterable<AnswerEvent>): AsyncGenerator<AnswerEvent, void, void> {
    let isOver = false
    try {
      for await (const event of events) {
        if (event.type === 'message_source') answer.sources.push(toSource(event))
        else if (event.type === 'assistant_write') {
          answer.firstTextMs ??= elapsedMs()
          answer.text += event.delta
        } else if (event.type === 'references') answer.references = event.references
        else if (event.type === 'cost') answer.receipts = event.receipts
        yield event
      }
      isOver = true
      endAs('complete')
    } catch (error) {
      isOver = true
      fail(error)
      throw error
    } finally {
      // The reader of the events has stopped: its client has gone.
      if (!isOver) endAs('left')
    }
  }
  return { follow, fail }
}

function toSource({
  source,
  status,
  count,
  search,
}: {
  source: string
  status: string
  count: number
  search: SearchReport
}) {
  return { source, status, count, query: search.query, milliseconds: search.milliseconds }
}
