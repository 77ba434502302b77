import type { ChatAnswer, ChatPreview, PreviewCost, PreviewSource, Reference } from '../../contract/chat.ts'
import { type AppError, formatPicoUsd, formatSseEvent } from '../../platform/kernel/index.ts'
import type { AnswerEvent } from './answer.ts'
import type { DocumentReference } from './references.ts'

/** Who reads an answer, and what it shows them. */
export interface Reader {
  /** Members who try a Space receive what each search did. */
  isPreview: boolean
  /** Administrators receive the cost and the reason of a failure. */
  isAdministrator: boolean
  /** Streamed references have passages and `documentId`. */
  passageReferences: boolean
  /** The reason why the text ended. */
  finishReason: boolean
  /** Of visitors of a Space's website, whose failed streams name a code. */
  visitor?: {
    describeReference(reference: DocumentReference): Reference
    /** The failure as visitors receive it, where it is not the usual one. */
    describeError(error: AppError): AppError | undefined
  }
}

/** One event as server-sent event; empty where the reader does not receive it. */
export function renderEvent(event: AnswerEvent, reader: Reader): string {
  switch (event.type) {
    case 'message_source': {
      const { source, status, count } = event
      return sse('message_source', reader.isPreview ? renderSource(event) : { source, status, count })
    }
    case 'assistant_write':
      return sse('assistant_write', { delta: event.delta })
    case 'finish':
      return reader.finishReason ? sse('assistant_finish', { finishReason: publicReason(event) }) : ''
    case 'references': {
      if (reader.visitor)
        return sse('references', { references: event.references.map(reader.visitor.describeReference) })
      // By the contract, only the JSON answer has documentId.
      const references = reader.passageReferences
        ? event.references
        : event.references.map(({ id, title, url }) => ({ id, title, ...(url === undefined ? {} : { url }) }))
      return sse('references', { references })
    }
    case 'citations':
      return reader.isPreview && reader.isAdministrator ? sse('citations', event.counts) : ''
    case 'cost':
      return reader.isPreview && reader.isAdministrator ? sse('cost', renderCost(event)) : ''
  }
}

/** Where no more tools are allowed, a call of one ends the answer like any other end. */
const publicReason = ({ reason }: Extract<AnswerEvent, { type: 'finish' }>) =>
  reason === 'tool_calls' ? 'stop' : reason

export function renderDone(): string {
  return sse('done', { done: true })
}

export function renderError(error: AppError, { isPreview, visitor }: Reader): string {
  return sse('error', { error: error.message, ...((isPreview || visitor) && { code: error.code }) })
}

const sse = (name: string, data: object) => formatSseEvent(JSON.stringify(data), name)

function renderSource({
  source,
  status,
  count,
  search,
}: Extract<AnswerEvent, { type: 'message_source' }>): PreviewSource {
  return { source, status, count, ...search }
}

function renderCost({ receipts }: Extract<AnswerEvent, { type: 'cost' }>): PreviewCost {
  return {
    billedUsd: formatPicoUsd(receipts.reduce((sum, { billedPicoUsd }) => sum + billedPicoUsd, 0n)),
    requests: receipts.map(({ requestId, model, billedPicoUsd }) => ({
      requestId,
      model,
      billedUsd: formatPicoUsd(billedPicoUsd),
    })),
  }
}

/** The events as one JSON answer. */
export async function foldAnswer(
  events: AsyncIterable<AnswerEvent>,
  id: string,
  reader: Reader,
): Promise<ChatAnswer | ChatPreview> {
  const folded: ChatPreview = { id, role: 'assistant', content: '', references: [] }
  const sources: PreviewSource[] = []
  for await (const event of events) {
    if (event.type === 'message_source') sources.push(renderSource(event))
    else if (event.type === 'assistant_write') folded.content += event.delta
    else if (event.type === 'finish') folded.finishReason = publicReason(event)
    else if (event.type === 'references')
      folded.references = reader.visitor ? event.references.map(reader.visitor.describeReference) : event.references
    else if (event.type === 'citations') folded.citations = event.counts
    else folded.cost = renderCost(event)
  }
  const { cost, citations, finishReason, ...always } = folded
  const answer = { ...always, ...(reader.finishReason && finishReason && { finishReason }) }
  if (!reader.isPreview) return answer
  const forAdministrators = { ...(citations && { citations }), ...(cost && { cost }) }
  return { ...answer, sources, ...(reader.isAdministrator && forAdministrators) }
}
