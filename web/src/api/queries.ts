import { infiniteQueryOptions, type QueryKey, queryOptions, type UseQueryOptions } from '@tanstack/react-query'
import { getJson } from './client.ts'

type QueryState<Body> = Pick<UseQueryOptions<Body>, 'placeholderData' | 'refetchInterval' | 'retry' | 'staleTime'>

/** The query of what the API answers at `path`. */
export function jsonQuery<Body>(queryKey: QueryKey, path: string, options: QueryState<Body> = {}) {
  return queryOptions<Body>({ ...options, queryKey, queryFn: ({ signal }) => getJson<Body>(path, { signal }) })
}

/** The query of a list whose pages follow each other by a cursor. */
export function pagesQuery<Page extends { nextCursor: string | null }>(queryKey: QueryKey, path: string) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ signal, pageParam }) => getJson<Page>(withQuery(path, { cursor: pageParam }), { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

/** The path with the values that are stated: neither absent nor empty. It may have a query already. */
export function withQuery(path: string, values: Record<string, string | number | null | undefined>): string {
  const stated = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== '')
  if (stated.length === 0) return path
  const query = new URLSearchParams(stated.map(([name, value]) => [name, String(value)]))
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}
