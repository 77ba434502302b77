import type { AlertDeliveryPageBody, AlertPageBody, AlertSettingsBody } from '@contract/alerts.ts'
import { jsonQuery, pagesQuery, withQuery } from '../../api/queries.ts'

/** All queries of alerts; a change of settings invalidates them together. */
export const alertsKey = ['alerts'] as const

/** Instances evaluate every 30 seconds. */
const refreshMs = 15_000
const pageSize = 50

export const openAlertsQuery = jsonQuery<AlertPageBody>([...alertsKey, 'open'], '/api/alerts?state=open&limit=20', {
  refetchInterval: refreshMs,
})

export const alertsQuery = (state: 'open' | 'resolved') => ({
  ...pagesQuery<AlertPageBody>([...alertsKey, 'list', state], withQuery('/api/alerts', { state, limit: pageSize })),
  refetchInterval: refreshMs,
})

export const deliveriesQuery = {
  ...pagesQuery<AlertDeliveryPageBody>(
    [...alertsKey, 'deliveries'],
    withQuery('/api/alerts/deliveries', { limit: pageSize }),
  ),
  refetchInterval: refreshMs,
}

export const alertSettingsQuery = jsonQuery<AlertSettingsBody>([...alertsKey, 'settings'], '/api/alerts/settings')
