import { queryOptions } from '@tanstack/react-query'
import type { ConsoleHealthBody, FailingDeploymentBody } from '@contract/console-health.ts'
import { getJson } from '../../api/client.ts'

/** Instances write what they have counted every ten seconds. */
const refreshMs = 10_000

export const healthQuery = queryOptions({
  queryKey: ['operator', 'health'],
  queryFn: ({ signal }) => getJson<ConsoleHealthBody>('/api/console/health', { signal }),
  refetchInterval: refreshMs,
})

export const failingQuery = queryOptions({
  queryKey: ['operator', 'failing'],
  queryFn: ({ signal }) => getJson<{ items: FailingDeploymentBody[] }>('/api/console/health/failing', { signal }),
  refetchInterval: refreshMs,
})
