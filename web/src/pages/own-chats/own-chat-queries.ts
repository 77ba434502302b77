import type { OwnChatPageBody, OwnChatTurnBody, OwnChatViewBody } from '@contract/own-chats.ts'
import { ApiError, getJson } from '../../api/client.ts'
import { pagesQuery, withQuery } from '../../api/queries.ts'

export const ownChatsPath = (spaceId: string) => `/api/spaces/${encodeURIComponent(spaceId)}/own-chats`
/** The lists of one Space. */
export const ownChatsKey = (spaceId: string) => ['own-chats', spaceId] as const

export const ownChatsQuery = (spaceId: string, search: string) =>
  pagesQuery<OwnChatPageBody>(
    [...ownChatsKey(spaceId), search],
    withQuery(ownChatsPath(spaceId), { limit: 30, search }),
  )

/** All turns of a conversation; null where the person has no such conversation. */
export async function loadOwnTurns(
  spaceId: string,
  chatId: string,
  signal: AbortSignal,
): Promise<OwnChatTurnBody[] | null> {
  const turns: OwnChatTurnBody[] = []
  try {
    for (let after: number | null = 0; after !== null;) {
      const path: string = `${ownChatsPath(spaceId)}/${chatId}?after=${after}`
      const page: OwnChatViewBody = await getJson<OwnChatViewBody>(path, { signal })
      turns.push(...page.turns)
      after = page.next
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
  return turns
}
