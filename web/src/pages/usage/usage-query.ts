import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { UsageReport, UsageRequestPage } from '@contract/usage-reports.ts'
import { getJson } from '../../api/client.ts'

/** What the address of the page states. Absent members have their defaults. */
export interface UsageSearch {
  view?: 'requests'
  from?: string
  to?: string
  model?: string
  surface?: 'gateway' | 'space_chat' | 'embeddings'
  spaceId?: string
  tagKey?: string
  tagValue?: string
  split?: string
  ending?: string
}

/** Members of the address that choose calls; both views share them. */
const filterNames = ['from', 'to', 'model', 'surface', 'spaceId', 'tagKey', 'tagValue'] as const

function address(organisationId: string, search: UsageSearch, names: readonly (keyof UsageSearch)[], path = '') {
  const parameters = new URLSearchParams()
  for (const name of names) {
    const value = search[name]
    if (value !== undefined) parameters.set(name, value)
  }
  return `/api/console/organisations/${organisationId}/usage${path}?${parameters}`
}

export function reportQuery(organisationId: string, search: UsageSearch) {
  const url = address(organisationId, search, [...filterNames, 'split'])
  return queryOptions({
    queryKey: ['usage', url],
    queryFn: ({ signal }) => getJson<UsageReport>(url, { signal }),
  })
}

/** The address of the table as CSV. */
export function exportUrl(organisationId: string, search: UsageSearch): string {
  return address(organisationId, search, [...filterNames, 'split'], '/export')
}

export function requestsQuery(organisationId: string, search: UsageSearch) {
  const url = address(organisationId, search, [...filterNames, 'ending'], '/requests')
  return infiniteQueryOptions({
    queryKey: ['usage', url],
    queryFn: ({ pageParam, signal }) =>
      getJson<UsageRequestPage>(pageParam === '' ? url : `${url}&cursor=${encodeURIComponent(pageParam)}`, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}
