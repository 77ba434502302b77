import type { AdminLogEntryBody, AdminLogPageBody } from '@contract/admin-log.ts'
import { getJson } from '../../api/client.ts'

const pageSize = 100
/** Entries of one export. A narrower time range exports the rest. */
const maximumEntries = 10_000

/** Loads all entries of a filter, page by page. */
export async function loadEntries(path: string): Promise<{ items: AdminLogEntryBody[]; isComplete: boolean }> {
  const items: AdminLogEntryBody[] = []
  let cursor: string | null = null
  do {
    const page: AdminLogPageBody = await getJson(
      `${path}${path.includes('?') ? '&' : '?'}limit=${pageSize}${cursor === null ? '' : `&cursor=${cursor}`}`,
    )
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null && items.length < maximumEntries)
  return { items, isComplete: cursor === null }
}
