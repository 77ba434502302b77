import { useTranslation } from 'react-i18next'
import type { GoldenRunBody } from '@contract/golden-runs.ts'
import { postJson } from '../../api/client.ts'
import { useChange } from '../../ui/use-change.ts'
import { runsKey, runsPath } from './run-queries.ts'

export function useStartRun(spaceId: string) {
  return useChange(() => postJson<GoldenRunBody>(runsPath(spaceId)), { stale: runsKey(spaceId) })
}

export function useCancelRun(spaceId: string) {
  const { t } = useTranslation('golden-questions')
  return useChange((runId: string) => postJson<GoldenRunBody>(`${runsPath(spaceId)}/${runId}/cancel`), {
    stale: runsKey(spaceId),
    done: () => t('runs.cancelled'),
  })
}
