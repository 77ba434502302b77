import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { VisitReference } from '@contract/site-visits.ts'
import { type Conversation, type History, titleOf, type Turn } from './history.ts'
import { CallError, toProblem, type Visits } from './visit.ts'

export interface Chat {
  conversations(): readonly Conversation[]
  current(): Conversation | undefined
  isRunning(): boolean
  ask(question: string): Promise<void>
  /** Asks the question of a failed or stopped last turn again. */
  retry(): Promise<void>
  stop(): void
  rate(turnId: string, rating: 'up' | 'down', reason: string | null): Promise<void>
  select(id: string | undefined): void
  remove(id: string): void
  removeAll(): void
  /** Takes over what another tab has stored; the conversation on the screen stays. */
  reload(): void
  onChange(listener: () => void): () => void
}

/** What the server accepts of one conversation. */
const maximumMessages = 60
const maximumSentCharacters = 60_000

/** The conversations of a visitor; one answer runs at a time. */
export function createChat({ visits, history, now }: { visits: Visits; history: History; now: () => number }): Chat {
  const list = createList(history)
  let running: { stopping: AbortController; conversationId: string } | undefined

  async function ask(question: string): Promise<void> {
    if (running || question.trim() === '') return
    const former = list.current()
    const turn: Turn = { id: createId(), question: question.trim(), status: 'waiting', text: '' }
    const { id, title } = former ?? { id: createId(), title: titleOf(question) }
    const earlier = former?.turns ?? []
    const stopping = new AbortController()
    running = { stopping, conversationId: id }
    list.begin({ id, title, at: now(), turns: [...earlier, turn] })
    const update = (fields: Partial<Turn>) => list.updateTurn(id, turn.id, fields)
    const end = await readAnswer(visits, { messages: toMessages(earlier, turn.question), stopping, update }).catch(
      (error: unknown): Partial<Turn> =>
        stopping.signal.aborted ? { status: 'stopped' } : { status: 'failed', problem: toProblem(error, now()) },
    )
    running = undefined
    update(end)
    list.save()
  }

  const stop = () => running?.stopping.abort()
  const removeWhere = (isRemoved: (id: string) => boolean) => {
    if (running && isRemoved(running.conversationId)) stop()
    list.removeWhere(isRemoved)
  }

  return {
    conversations: list.all,
    current: list.current,
    isRunning: () => running !== undefined,
    ask,
    async retry() {
      const question = running ? undefined : list.takeLastQuestion()
      if (question !== undefined) await ask(question)
    },
    stop,
    async rate(turnId, rating, reason) {
      const conversation = list.current()
      const turn = conversation?.turns.find(({ id }) => id === turnId)
      if (!conversation || !turn?.requestId) return
      list.updateTurn(conversation.id, turnId, { rating })
      list.save()
      await visits.send('POST', '/ratings', { body: { requestId: turn.requestId, rating, reason } })
    },
    select: list.select,
    remove: (removed) => removeWhere((id) => id === removed),
    removeAll: () => removeWhere(() => true),
    reload: list.reload,
    onChange: list.onChange,
  }
}

/** The conversations on the screen; what changes them also calls the listeners. */
function createList(history: History) {
  let conversations = history.load()
  let currentId: string | undefined
  const listeners = new Set<() => void>()
  const change = (next: Conversation[]) => {
    conversations = next
    for (const listener of listeners) listener()
  }
  const current = () => conversations.find(({ id }) => id === currentId)
  const save = () => history.save(conversations)
  const updateTurn = (conversationId: string, turnId: string, fields: Partial<Turn>) => {
    const turnsOf = ({ turns }: Conversation) =>
      turns.map((turn) => (turn.id === turnId ? { ...turn, ...fields } : turn))
    change(conversations.map((one) => (one.id === conversationId ? { ...one, turns: turnsOf(one) } : one)))
  }
  return {
    all: () => conversations,
    current,
    save,
    updateTurn,
    /** A conversation with a new question becomes the first one. */
    begin(conversation: Conversation) {
      currentId = conversation.id
      change([conversation, ...conversations.filter(({ id }) => id !== conversation.id)])
      save()
    },
    /** Removes the last turn, and returns its question. */
    takeLastQuestion(): string | undefined {
      const conversation = current()
      const last = conversation?.turns.at(-1)
      if (!last) return undefined
      change(conversations.map((one) => (one === conversation ? { ...one, turns: one.turns.slice(0, -1) } : one)))
      return last.question
    },
    select(id: string | undefined) {
      currentId = id
      change(conversations)
    },
    reload() {
      const own = current()
      const stored = history.load()
      change(own ? [own, ...stored.filter(({ id }) => id !== own.id)] : stored)
    },
    removeWhere(isRemoved: (id: string) => boolean) {
      if (currentId !== undefined && isRemoved(currentId)) currentId = undefined
      change(conversations.filter(({ id }) => !isRemoved(id)))
      save()
    },
    onChange(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

interface Answering {
  messages: { role: 'user' | 'assistant'; content: string }[]
  stopping: AbortController
  update: (fields: Partial<Turn>) => void
}

/** Sends the conversation and passes on the answer while it arrives. Resolves to the last change of the turn. */
async function readAnswer(visits: Visits, { messages, stopping, update }: Answering): Promise<Partial<Turn>> {
  const { signal } = stopping
  const response = await visits.send('POST', '/chat', { body: { messages, streaming: true }, signal })
  update({ requestId: response.headers.get('x-request-id') ?? '' })
  let text = ''
  let frame = 0
  // A fast model sends more pieces than a screen has frames.
  const show = () => {
    frame = 0
    update({ text, status: 'writing' })
  }
  try {
    for await (const { event, data } of readEvents(response.body!)) {
      const value = JSON.parse(data)
      if (event === 'assistant_write') {
        text += value.delta
        frame ||= requestFrame(show)
      } else if (event === 'assistant_finish') {
        if (value.finishReason !== 'stop') update({ cutOff: value.finishReason })
      } else if (event === 'references') update({ references: value.references as VisitReference[] })
      else if (event === 'error') throw new CallError(200, value.code)
      else if (event === 'done') return { text, status: 'done' }
    }
    throw new CallError(0, 'no_connection')
  } catch (error) {
    // An aborted or broken body throws errors of the browser.
    throw error instanceof CallError || signal.aborted ? error : new CallError(0, 'no_connection')
  } finally {
    cancelFrame(frame)
    update({ text })
  }
}

// A hidden page has no frames.
const requestFrame = (act: () => void) =>
  document.visibilityState === 'visible' ? requestAnimationFrame(act) : -Number(setTimeout(act, 100))
const cancelFrame = (frame: number) => (frame < 0 ? clearTimeout(-frame) : cancelAnimationFrame(frame))

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<EventSourceMessage> {
  const received: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => received.push(event) })
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      yield* received.splice(0)
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}

/** The latest turns that have an answer, and the new question. */
function toMessages(earlier: readonly Turn[], question: string): Answering['messages'] {
  const messages: Answering['messages'] = [{ role: 'user', content: question }]
  let characters = question.length
  for (const { question: asked, text } of earlier.toReversed()) {
    if (text.trim() === '') continue
    characters += asked.length + text.length
    if (messages.length + 2 > maximumMessages || characters > maximumSentCharacters) break
    messages.unshift({ role: 'user', content: asked }, { role: 'assistant', content: text })
  }
  return messages
}

/** `crypto.randomUUID` exists only on pages with TLS. */
export function createId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
