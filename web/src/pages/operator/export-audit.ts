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

export function downloadJson(name: string, value: unknown): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
