import type { UsageReport, UsageRequestPage } from '@contract/usage-reports.ts'
import { jsonQuery, pagesQuery, withQuery } from '../../api/queries.ts'

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
  const stated = Object.fromEntries(names.map((name) => [name, search[name]]))
  return withQuery(`/api/console/organisations/${organisationId}/usage${path}`, stated)
}

export function reportQuery(organisationId: string, search: UsageSearch) {
  const url = address(organisationId, search, [...filterNames, 'split'])
  return jsonQuery<UsageReport>(['usage', url], url)
}

/** The address of the table as CSV. */
export function exportUrl(organisationId: string, search: UsageSearch): string {
  return address(organisationId, search, [...filterNames, 'split'], '/export')
}

export function requestsQuery(organisationId: string, search: UsageSearch) {
  const url = address(organisationId, search, [...filterNames, 'ending'], '/requests')
  return pagesQuery<UsageRequestPage>(['usage', url], url)
}
