import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { AlertDeliveryPageBody, AlertPageBody, AlertSettingsBody } from '@contract/alerts.ts'
import { getJson } from '../../api/client.ts'

/** All queries of alerts; a change of settings invalidates them together. */
export const alertsKey = ['alerts'] as const

/** Instances evaluate every 30 seconds. */
const refreshMs = 15_000
const pageSize = 50

export const openAlertsQuery = queryOptions({
  queryKey: [...alertsKey, 'open'],
  queryFn: ({ signal }) => getJson<AlertPageBody>('/api/alerts?state=open&limit=20', { signal }),
  refetchInterval: refreshMs,
})

const withCursor = (path: string, cursor: string | null) =>
  `${path}&limit=${pageSize}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`

export const alertsQuery = (state: 'open' | 'resolved') =>
  infiniteQueryOptions({
    queryKey: [...alertsKey, 'list', state],
    queryFn: ({ signal, pageParam }) =>
      getJson<AlertPageBody>(withCursor(`/api/alerts?state=${state}`, pageParam), { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: refreshMs,
  })

export const deliveriesQuery = infiniteQueryOptions({
  queryKey: [...alertsKey, 'deliveries'],
  queryFn: ({ signal, pageParam }) =>
    getJson<AlertDeliveryPageBody>(withCursor('/api/alerts/deliveries?', pageParam), { signal }),
  initialPageParam: null as string | null,
  getNextPageParam: ({ nextCursor }) => nextCursor,
  refetchInterval: refreshMs,
})

export const alertSettingsQuery = queryOptions({
  queryKey: [...alertsKey, 'settings'],
  queryFn: ({ signal }) => getJson<AlertSettingsBody>('/api/alerts/settings', { signal }),
})
