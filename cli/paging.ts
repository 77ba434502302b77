import type { ApiClient } from './api-client.ts'

export interface Page<Item> {
  total: number
  items: Item[]
}

const pageSize = 100

/** Loads up to `limit` items, page by page. `path` may contain a query. */
export async function loadItems<Item>(client: ApiClient, path: string, limit: number): Promise<Page<Item>> {
  const items: Item[] = []
  let total = 0
  const joint = path.includes('?') ? '&' : '?'
  do {
    const size = Math.min(pageSize, limit - items.length)
    const page = await client.get<Page<Item>>(`${path}${joint}limit=${size}&offset=${items.length}`)
    total = page.total
    items.push(...page.items)
    if (page.items.length < size) break
  } while (items.length < Math.min(limit, total))
  return { total, items }
}

/** Items that a listing shows without --limit. */
export const defaultLimit = 100
