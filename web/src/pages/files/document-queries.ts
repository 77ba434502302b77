import { queryOptions, type QueryClient } from '@tanstack/react-query'
import type { DocumentFilter, DocumentProgressPageBody, DocumentSort } from '@contract/document-progress.ts'
import type { DocumentFormat } from '@contract/documents.ts'
import { getJson } from '../../api/client.ts'
import { readAddressFilter } from './metadata-conditions.ts'

/** Rows of one request. The table loads the windows that it shows. */
export const windowSize = 100

/** What the address of the page holds. Absent: no filter, newest first. */
export type ListSearch = DocumentFilter & { sort?: DocumentSort | undefined }

const statuses = ['processing', 'ready', 'failed'] as const
/** A record, so that the compiler reports a missing one. */
const formatNames: Record<DocumentFormat, true> = {
  pdf: true,
  docx: true,
  txt: true,
  csv: true,
  md: true,
  html: true,
  tsv: true,
  xlsx: true,
  pptx: true,
  eml: true,
  image: true,
}
const formats = Object.keys(formatNames) as DocumentFormat[]
const sorts = ['newest', 'oldest', 'name', 'nameDescending', 'largest', 'smallest'] as const

/** Reads the query of an address; what is not known is left out. */
export function readListSearch(query: Record<string, unknown>): ListSearch {
  const { search, failure } = query
  const status = statuses.find((known) => known === query['status'])
  const format = formats.find((known) => known === query['format'])
  const sort = sorts.find((known) => known === query['sort'])
  const metadata = readAddressFilter(query['metadata'])
  return {
    ...(typeof search === 'string' && search !== '' ? { search: search.slice(0, 255) } : {}),
    ...(status ? { status } : {}),
    ...(typeof failure === 'string' && /^\w+$/.test(failure) ? { failure: failure as DocumentFilter['failure'] } : {}),
    ...(format ? { format } : {}),
    ...(metadata ? { metadata } : {}),
    ...(sort && sort !== 'newest' ? { sort } : {}),
  }
}

export const documentsKey = (spaceId: string) => ['documents', spaceId] as const

const windowKey = (spaceId: string, search: ListSearch, index: number) =>
  [...documentsKey(spaceId), search, index] as const

/**
 * Window `index` of the list. It continues after the nearest window above that is in memory, so that rows stay in place while documents
 * are added at the top; without one, the server skips to it.
 */
export function windowQuery(spaceId: string, search: ListSearch, index: number) {
  return queryOptions({
    queryKey: windowKey(spaceId, search, index),
    queryFn: ({ signal, client }) => {
      const anchor = findAnchor(client, spaceId, search, index)
      const query = new URLSearchParams(
        Object.entries(search).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
        ),
      )
      query.set('limit', String(windowSize))
      query.set('offset', String((index - anchor.index) * windowSize))
      if (anchor.next !== undefined) query.set('after', anchor.next)
      return getJson<DocumentProgressPageBody>(`/api/spaces/${spaceId}/documents?${query.toString()}`, { signal })
    },
    staleTime: 30_000,
  })
}

/** How far above a window its anchor is searched. */
const maximumAnchorDistance = 20

function findAnchor(client: QueryClient, spaceId: string, search: ListSearch, index: number) {
  for (let above = index - 1; above >= 0 && above >= index - maximumAnchorDistance; above--) {
    const page = client.getQueryData<DocumentProgressPageBody>(windowKey(spaceId, search, above))
    if (page?.next && page.items.length === windowSize) return { index: above + 1, next: page.next }
  }
  return { index: 0, next: undefined }
}
