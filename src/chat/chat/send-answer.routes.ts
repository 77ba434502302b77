import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ChatAnswer, ChatPreview, PreviewCost, PreviewSource, Reference } from '../../contract/chat.ts'
import { headerList, type Metrics, startEventStream, toAppError } from '../../platform/http/index.ts'
import { AppError, formatPicoUsd, formatSseEvent, type Log, invalidField } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { Space } from '../spaces/index.ts'
import { answer, type AnswerEvent } from './answer.ts'
import { type ReadChat, readConversation } from './chat-body.ts'
import { maximumUserCharacters } from '../../contract/conversations.ts'
import type { MetadataFilter } from '../../contract/metadata-filter.ts'
import { prepareAnswer } from './prepare-answer.ts'
import type { AnswerCall, AnswerDependencies } from './port.ts'
import { allFilters, readFilterHeader } from './find-passages.ts'
import { type AnswerRecord, type BeginRecord, type KeptAnswer, startRecord } from './record-answer.ts'
import type { DocumentReference } from './references.ts'
import { toVisitorError } from './visitor-error.ts'

export type SendDependencies = AnswerDependencies & {
  /** Counts an answer of a published Space, in memory. */
  noteAnswer: (answer: {
    organisation: Organisation
    space: Space
    documentIds: readonly string[]
    question: string
  }) => void
  /** Begins the record of an answer whose Space keeps conversations. */
  beginRecord: BeginRecord
  /** Counts what became of the markers of answers. */
  citations: Metrics['citations']
  log: Log
}

/** What an answer takes of its request. `organisation` owns the Space. */
export type AnswerRequest = Pick<FastifyRequest, 'headers' | 'requestId' | 'organisation' | 'clientSignal'>

export type AnswerPlace = {
  space: Space
  /** Must hold in addition to the filter of the request. Absent: nothing must. */
  filter?: MetadataFilter | null
  /** Always reports why the text ended. */
  finishReason?: boolean
  /** Of a conversation in the console that is kept. Absent: the answer ends with its client, and a preview is not stored. */
  kept?: KeptAnswer | undefined
} & Pick<AnswerCall, 'isOffered' | 'spending'> &
  Pick<Reader, 'isPreview' | 'isAdministrator' | 'visitor'>

/** Answers a request to a Space as one JSON object or as server-sent events. */
export async function sendAnswer(
  dependencies: SendDependencies,
  request: AnswerRequest & { body: unknown },
  reply: FastifyReply,
  place: AnswerPlace,
) {
  const body = request.body as ReadChat
  if (body.ignored.length > 0) reply.header('x-ignored-params', headerList(body.ignored))
  const { events, reader, hasTools } = await openAnswer(dependencies, request, body, place)
  if (!hasTools) reply.header('x-agentic-workflow', 'unavailable')
  const isKept = place.kept !== undefined
  if (body.streaming === true) return streamAnswer(dependencies.log, { request, reply, events, reader, isKept })
  return foldWhole(events, request, reader)
}

/** The answer of a published Space to one question, for clients that are not the chat. */
export async function answerWhole(
  dependencies: SendDependencies,
  request: AnswerRequest,
  question: string,
  place: Pick<AnswerPlace, 'space' | 'isOffered' | 'filter'>,
): Promise<ChatAnswer> {
  const body = { messages: [{ role: 'user' as const, content: question }] }
  const published = { ...place, isPreview: false, isAdministrator: false }
  const { events, reader } = await openAnswer(dependencies, request, body, published)
  return foldWhole(events, request, reader)
}

function foldWhole(events: AsyncIterable<AnswerEvent>, { requestId }: AnswerRequest, reader: Reader) {
  return foldAnswer(events, `msg_${requestId.slice(4)}`, reader).catch((error: unknown) => {
    throw toReaderError(error, reader)
  })
}

/** Begins an answer. `hasTools`: false if the request asks for the agentic workflow and the model accepts no tools. */
async function openAnswer(
  dependencies: SendDependencies,
  request: AnswerRequest,
  body: Pick<ReadChat, 'messages' | 'streaming' | 'filter'>,
  { space, isOffered, spending, filter = null, finishReason = false, kept, ...reading }: AnswerPlace,
) {
  const messages = await readConversation(body.messages)
  assertQuestion(messages.at(-1)!.content, body.messages.length - 1)
  const passageReferences = isOn(request.headers['service-enable-passage-references'])
  const reader: Reader = {
    ...reading,
    passageReferences,
    finishReason: finishReason || isOn(request.headers['service-enable-finish-reason']),
  }
  const call: AnswerCall = {
    requestId: request.requestId,
    organisation: request.organisation,
    space,
    messages,
    omittedMessages: body.messages.length - messages.length,
    filter: allFilters(filter, body.filter ?? null, readFilterHeader(request.headers)),
    inlineSources: isOn(request.headers['service-enable-inline-sources']),
    agentic: isOn(request.headers['service-enable-agentic-workflow']),
    ownTools: reader.visitor ? 'visitors' : 'all',
    passageReferences,
    isStreamed: body.streaming === true,
    isOffered,
    spending,
    // People who try a Space are not its visitors.
    ...(!reader.isPreview && { noteReferences: noteReferencesOf(dependencies, request.organisation, space, messages) }),
    noteCitations(counts) {
      for (const [outcome, count] of Object.entries(counts)) dependencies.citations.inc({ outcome }, count)
      const { moved, dropped } = counts
      if (moved + dropped > 0) dependencies.log.info({ requestId: request.requestId, ...counts }, 'corrected citations')
    },
    signal: kept?.signal ?? request.clientSignal,
  }
  const record = reader.isPreview && !kept ? undefined : startRecordOf(dependencies, request, call, kept)
  const prepared = await prepareAnswer(dependencies, call).catch((error: unknown) => {
    record?.fail(error)
    // An error in the request names its field; visitors can correct it.
    throw error instanceof AppError && error.param !== null ? error : toReaderError(error, reader)
  })
  const answered = answer(dependencies, call, prepared)
  const events = record ? record.follow(answered) : answered
  return { events, reader, hasTools: prepared.hasTools || !call.agentic }
}

/** Before anything is searched, recorded or billed. `index`: of the last message in the request. */
function assertQuestion(question: string, index: number) {
  if (question.trim() !== '') return
  const param = `messages.${index}.content`
  throw invalidField(param, `\`${param}\` must not be blank: the last message asks the question.`)
}

/** Undefined unless the Space keeps conversations. The header is checked in any case, so that the setting causes no error. */
function startRecordOf(
  { beginRecord }: SendDependencies,
  request: AnswerRequest,
  call: AnswerCall,
  kept: KeptAnswer | undefined,
): AnswerRecord | undefined {
  const user = kept ? null : readUser(request.headers)
  return call.space.settings.keepConversations ? startRecord(beginRecord, call, { user, kept, codeOf }) : undefined
}

/** The visitor as the client names it in the header `service-user`; null without the header. Throws `invalid_request`. */
function readUser(headers: Readonly<Record<string, string | string[] | undefined>>): string | null {
  const value = headers['service-user']
  if (value === undefined) return null
  if (typeof value === 'string' && /^[\x20-\x7e]+$/.test(value) && value.length <= maximumUserCharacters) return value
  throw invalidField(
    'service-user',
    `service-user must have 1 to ${maximumUserCharacters} printable ASCII characters. Send a pseudonym of the visitor, not a name.`,
  )
}

function noteReferencesOf(
  { noteAnswer }: SendDependencies,
  organisation: Organisation,
  space: Space,
  messages: AnswerCall['messages'],
): NonNullable<AnswerCall['noteReferences']> {
  return (references) =>
    noteAnswer({
      organisation,
      space,
      documentIds: references.map(({ documentId }) => documentId),
      question: messages.at(-1)!.content,
    })
}

async function streamAnswer(
  log: Log,
  {
    request,
    reply,
    events,
    reader,
    isKept,
  }: {
    request: AnswerRequest
    reply: FastifyReply
    events: ReturnType<typeof answer>
    reader: Reader
    isKept: boolean
  },
) {
  const stream = startEventStream(reply, request.clientSignal)
  let lastText = ''
  // A kept answer is written to its end, and stored, also after its reader has left.
  const isRead = () => !isKept || !request.clientSignal.aborted
  async function write(text: string) {
    try {
      if (text !== '' && isRead()) await stream.write(text)
    } catch (error) {
      if (isRead()) throw error
    }
  }
  try {
    for await (const event of events) {
      await write(renderEvent(event, reader))
    }
    await write(renderDone())
  } catch (thrown) {
    const error = toReaderError(thrown, reader)
    const { internal } = toVisitorError(toAppError(thrown))
    log.warn({ requestId: request.requestId, code: error.code, internal }, 'a streamed answer failed')
    lastText = renderError(error, reader)
  } finally {
    stream.end(lastText)
  }
  return reply
}

/** Administrators receive the reason of a failure, all others a text for visitors. A database that is away is `overloaded`. */
export function toReaderError(thrown: unknown, { isPreview, isAdministrator, visitor }: Reader): AppError {
  if (isPreview && isAdministrator && thrown instanceof AppError) return thrown
  const error = toAppError(thrown)
  return visitor?.describeError(error) ?? toVisitorError(error)
}

/** For the stored conversation: the code that the client receives. */
const codeOf = (error: unknown) => toAppError(error).code

const isOn = (header: string | string[] | undefined) =>
  typeof header === 'string' && header.trim().toLowerCase() === 'true'

/** Who reads an answer, and what it shows them. */
interface Reader {
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
function renderEvent(event: AnswerEvent, reader: Reader): string {
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

function renderDone(): string {
  return sse('done', { done: true })
}

function renderError(error: AppError, { isPreview, visitor }: Reader): string {
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
async function foldAnswer(
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
