import type { InstallationSplit, InstallationUsage } from '@contract/installation-usage.ts'
import { jsonQuery, withQuery } from '../../api/queries.ts'

/** What the address of the page states. Absent members have their defaults. */
export interface OverviewSearch {
  from?: string
  to?: string
  organisationId?: string
  provider?: string
  model?: string
  hosting?: string
  split?: InstallationSplit
}

export const splits = ['organisation', 'provider', 'model', 'hosting'] as const satisfies InstallationSplit[]
const filterNames = ['from', 'to', 'organisationId', 'provider', 'model', 'hosting'] as const

function address(path: string, search: OverviewSearch, names: readonly (keyof OverviewSearch)[]): string {
  const stated = Object.fromEntries(names.map((name) => [name, search[name]]))
  return withQuery(`/api/console/installation/${path}`, stated)
}

export function overviewQuery(search: OverviewSearch) {
  const url = address('usage', search, [...filterNames, 'split'])
  return jsonQuery<InstallationUsage>(['operator', 'overview', url], url)
}

/** The address of every row of the range as CSV. */
export const exportUrl = (search: OverviewSearch): string => address('usage/export', search, filterNames)

/** The day `ago` days before today, in the time zone of the browser. */
export function dayBefore(ago: number): string {
  const day = new Date()
  day.setDate(day.getDate() - ago)
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0')).join('-')
}
