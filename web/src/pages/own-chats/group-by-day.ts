import type { OwnChatBody } from '@contract/own-chats.ts'

export type DayGroup = 'today' | 'yesterday' | 'week' | 'older'

/** Conversations by the day of their last answer in the time zone of the browser, in their order. Groups without one are left out. */
export function groupByDay<Chat extends Pick<OwnChatBody, 'lastAt'>>(
  chats: readonly Chat[],
  now: Date,
): { name: DayGroup; items: Chat[] }[] {
  const midnight = (daysAgo: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo)
  const starts: [DayGroup, Date][] = [
    ['today', midnight(0)],
    ['yesterday', midnight(1)],
    ['week', midnight(7)],
    ['older', new Date(0)],
  ]
  const nameOf = ({ lastAt }: Chat) => starts.find(([, start]) => new Date(lastAt) >= start)![0]
  return starts.flatMap(([name]) => {
    const items = chats.filter((chat) => nameOf(chat) === name)
    return items.length > 0 ? [{ name, items }] : []
  })
}
