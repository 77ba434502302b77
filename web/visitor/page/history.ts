import type { VisitReference } from '@contract/site-visits.ts'

/** Conversations that stay in the visitor's browser. Nothing of them is sent until the visitor asks the next question. */

export type ProblemKind =
  | 'paused'
  | 'budget'
  | 'rate'
  | 'offline'
  | 'password'
  | 'members'
  | 'closed'
  | 'long'
  | 'busy'
  | 'attempts'
  | 'failed'

export interface Problem {
  kind: ProblemKind
  /** When another try makes sense, as milliseconds since 1970. */
  retryAt?: number
}

export interface Turn {
  id: string
  question: string
  status: 'waiting' | 'writing' | 'done' | 'stopped' | 'failed'
  text: string
  /** Undefined until the answer is complete. */
  references?: VisitReference[]
  /** The model had no room for more, or the provider withheld the rest. */
  cutOff?: 'length' | 'content_filter'
  requestId?: string
  problem?: Problem
  rating?: 'up' | 'down'
}

export interface Conversation {
  id: string
  title: string
  /** Time of the last question, as milliseconds since 1970. */
  at: number
  turns: Turn[]
}

const maximumConversations = 50
const maximumCharacters = 2_000_000
const version = 1

export interface History {
  load(): Conversation[]
  save(conversations: readonly Conversation[]): void
}

/** A browser may refuse its storage, in a frame of another site for example: conversations then last as long as the page. */
export function createHistory(publicId: string, storage: Storage | undefined): History {
  const key = `portico.chat.${publicId}`
  return {
    load() {
      try {
        const stored = JSON.parse(storage?.getItem(key) ?? 'null') as {
          version: number
          conversations: Conversation[]
        } | null
        return stored?.version === version ? stored.conversations.map(closeTurns) : []
      } catch {
        return []
      }
    },
    save(conversations) {
      if (!storage) return
      let kept = [...conversations].sort((a, b) => b.at - a.at).slice(0, maximumConversations)
      for (;;) {
        try {
          const text = JSON.stringify({ version, conversations: kept })
          if (kept.length > 1 && text.length > maximumCharacters) throw new RangeError('too many characters')
          if (kept.length === 0) storage.removeItem(key)
          else storage.setItem(key, text)
          return
        } catch {
          // The oldest half goes; a single conversation that does not fit is not stored.
          if (kept.length < 2) return
          kept = kept.slice(0, Math.ceil(kept.length / 2))
        }
      }
    },
  }
}

/** An answer that was on its way when the page was closed. */
function closeTurns(conversation: Conversation): Conversation {
  const turns = conversation.turns.map((turn): Turn =>
    turn.status === 'waiting' || turn.status === 'writing' ? { ...turn, status: 'stopped' } : turn,
  )
  return { ...conversation, turns }
}

export function titleOf(question: string): string {
  const line = question.trim().replace(/\s+/g, ' ')
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`
}
