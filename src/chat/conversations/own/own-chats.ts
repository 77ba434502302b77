import type { Database } from '../../../platform/database/index.ts'
import type { ConversationService } from '../conversations.ts'
import type { ChatOwner } from './chat-owner.ts'
import {
  loadOwnChat,
  loadOwnChats,
  type OwnChat,
  removeOwnChats,
  renameOwnChat,
  type StoredOwnTurn,
  whoseChat,
} from './own-chats.store.ts'
import type { RunningAnswers } from './running-answers.ts'

export interface OwnChatsDependencies {
  database: Database
  service: Pick<ConversationService, 'flush'>
  running: Pick<RunningAnswers, 'stop' | 'discard'>
}

/** A conversation with some of its turns; a long one comes in several parts. */
export interface ChatPart {
  chat: OwnChat
  isFirst: boolean
  turns: StoredOwnTurn[]
}

/** The conversations of people in the console. Each method has the person: nobody reads those of another. */
export type OwnChats = ReturnType<typeof createOwnChats>

export function createOwnChats({ database, service, running }: OwnChatsDependencies) {
  const ownOf = ({ personId }: ChatOwner) => database.for(personId)
  return {
    /** Also with what this instance has not written yet. */
    async loadPage(owner: ChatOwner, page: Parameters<typeof loadOwnChats>[2]) {
      await service.flush()
      return loadOwnChats(ownOf(owner), owner, page)
    },

    /** Also what this instance has not written yet. */
    async loadOne(owner: ChatOwner, place: { chatId: string; after: number }) {
      await service.flush()
      return loadOwnChat(ownOf(owner), owner, place)
    },

    rename: (owner: ChatOwner, change: { chatId: string; title: string }) => renameOwnChat(ownOf(owner), owner, change),

    /** One conversation, or all (null). A running answer ends and is not stored. Resolves to the number of conversations. */
    async remove(owner: ChatOwner, chatId: string | null): Promise<number> {
      await service.flush()
      if (chatId !== null && (await whoseChat(ownOf(owner), owner, chatId)) !== 'own') return 0
      await running.discard({ ...owner, chatId })
      await service.flush()
      return removeOwnChats(ownOf(owner), owner, chatId)
    },

    /** False for a conversation of someone else. That of a first answer is not stored yet. */
    async stop(owner: ChatOwner, chatId: string): Promise<boolean> {
      if ((await whoseChat(ownOf(owner), owner, chatId)) === 'other') return false
      await running.stop({ ...owner, chatId })
      return true
    },

    /** One conversation, or all (null), newest first, in parts of at most about 2 MiB. */
    async *loadParts(owner: ChatOwner, chatId: string | null): AsyncGenerator<ChatPart> {
      await service.flush()
      for await (const id of chatId === null ? idsOf(owner) : [chatId]) {
        for (let after: number | null = 0; after !== null;) {
          const found: Awaited<ReturnType<typeof loadOwnChat>> = await loadOwnChat(ownOf(owner), owner, {
            chatId: id,
            after,
          })
          if (!found) break
          yield { chat: found.chat, isFirst: after === 0, turns: found.turns }
          after = found.next
        }
      }
    },
  }

  async function* idsOf(owner: ChatOwner) {
    for (let after: Parameters<typeof loadOwnChats>[2]['after'] = null, isEnd = false; !isEnd;) {
      const page: Awaited<ReturnType<typeof loadOwnChats>> = await loadOwnChats(ownOf(owner), owner, {
        search: null,
        after,
        limit: 100,
      })
      for (const { id } of page.items) yield id
      after = page.next
      isEnd = after === null
    }
  }
}
