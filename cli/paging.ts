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

/** Loads up to `limit` items of a list whose pages name the cursor of the next one. `path` may contain a query. */
export async function loadNewest<Item>(client: ApiClient, path: string, limit: number): Promise<{ items: Item[] }> {
  const items: Item[] = []
  const joint = path.includes('?') ? '&' : '?'
  let cursor: string | null = ''
  while (cursor !== null && items.length < limit) {
    const size = Math.min(pageSize, limit - items.length)
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page: { items: Item[]; nextCursor: string | null } = await client.get(`${path}${joint}limit=${size}${after}`)
    items.push(...page.items)
    cursor = page.nextCursor
  }
  return { items }
}

/** Items that a listing shows without --limit. */
export const defaultLimit = 100
