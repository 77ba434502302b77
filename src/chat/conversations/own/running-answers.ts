import type { Database, RecordChange } from '../../../platform/database/index.ts'
import { AppError, type ChangeSource } from '../../../platform/kernel/index.ts'

/** One conversation of one person. */
export interface ChatPlace {
  personId: string
  spaceId: string
  chatId: string
}

/** An answer of a conversation that is kept: it continues when its page is closed or loaded again. */
export interface RunningAnswer {
  /** Ends the answer: the person stopped it, the service stops, or too many run without a reader. */
  signal: AbortSignal
  /** True once its conversation was deleted: the answer must not be stored. */
  isDiscarded(): boolean
  /** Call when the answer has ended. */
  end(): void
}

export type RunningAnswers = ReturnType<typeof createRunningAnswers>

export interface RunningAnswersDependencies {
  database: Database
  recordChange: RecordChange
  changeFeed: ChangeSource
}

const topic = 'running_answers'
/** Answers that continue without a reader: of one person, and of a process. Above it they end with their client. */
const mostUnread = { person: 3, process: 200 }

interface Entry {
  place: ChatPlace
  stopping: AbortController
  isUnread: boolean
  isDiscarded: boolean
  ended: PromiseWithResolvers<void>
}

/** The answers of people in the console that run on this instance. Stops reach the answers of every instance within a second. */
export function createRunningAnswers({ database, recordChange, changeFeed }: RunningAnswersDependencies) {
  const running = new Set<Entry>()
  let isClosing = false
  const unread = () => [...running].filter((entry) => entry.isUnread)

  const unsubscribe = changeFeed.subscribe(topic, async (ids) => {
    if (ids !== 'all') for (const id of ids) apply(id)
  })

  function apply(id: string) {
    const [what, personId, spaceId, chatId] = id.split(' ')
    for (const entry of running) {
      const { place } = entry
      if (place.personId !== personId || place.spaceId !== spaceId) continue
      if (chatId !== 'all' && place.chatId !== chatId) continue
      entry.isDiscarded ||= what === 'discard'
      entry.stopping.abort(new AppError('client_closed', 'The person stopped the answer.'))
    }
  }

  function announce(
    what: 'stop' | 'discard',
    { personId, spaceId, chatId }: Omit<ChatPlace, 'chatId'> & { chatId: string },
  ) {
    const id = [what, personId, spaceId, chatId].join(' ')
    apply(id)
    return database.for(personId).transaction((transaction) => recordChange(transaction, topic, id))
  }

  function onClientGone(entry: Entry, reason: unknown) {
    const others = unread()
    const ofPerson = others.filter(({ place }) => place.personId === entry.place.personId).length
    const isAllowed = !isClosing && others.length < mostUnread.process && ofPerson < mostUnread.person
    if (isAllowed) entry.isUnread = true
    else entry.stopping.abort(reason)
  }

  return {
    begin(place: ChatPlace, clientSignal: AbortSignal): RunningAnswer {
      const entry: Entry = {
        place,
        stopping: new AbortController(),
        isUnread: false,
        isDiscarded: false,
        ended: Promise.withResolvers(),
      }
      running.add(entry)
      const leave = () => onClientGone(entry, clientSignal.reason)
      if (clientSignal.aborted) leave()
      else clientSignal.addEventListener('abort', leave, { once: true })
      return {
        signal: entry.stopping.signal,
        isDiscarded: () => entry.isDiscarded,
        end() {
          clientSignal.removeEventListener('abort', leave)
          running.delete(entry)
          entry.ended.resolve()
        },
      }
    },
    /** Ends the running answer of a conversation; what was written so far is kept. */
    stop: (place: ChatPlace) => announce('stop', place),
    /** Ends the running answers of a conversation that is deleted, or of all (null) of the person with the Space. They are not stored. */
    discard: ({ chatId, ...place }: Omit<ChatPlace, 'chatId'> & { chatId: string | null }) =>
      announce('discard', { ...place, chatId: chatId ?? 'all' }),
    /** Ends the answers without a reader, and from now on those whose client leaves. Resolves when they have ended. */
    async close(): Promise<void> {
      isClosing = true
      unsubscribe()
      const left = unread()
      for (const { stopping } of left) stopping.abort(new AppError('client_closed', 'The service stops.'))
      await Promise.all(left.map(({ ended }) => ended.promise))
    },
  }
}
