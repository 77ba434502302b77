import type { ConsoleHealthBody, FailingDeploymentBody } from '@contract/console-health.ts'
import { jsonQuery } from '../../api/queries.ts'

/** Instances write what they have counted every ten seconds. */
const refreshMs = 10_000

export const healthQuery = jsonQuery<ConsoleHealthBody>(['operator', 'health'], '/api/console/health', {
  refetchInterval: refreshMs,
})

export const failingQuery = jsonQuery<{ items: FailingDeploymentBody[] }>(
  ['operator', 'failing'],
  '/api/console/health/failing',
  { refetchInterval: refreshMs },
)
