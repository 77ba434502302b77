import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { GoldenRunBody } from '@contract/golden-runs.ts'
import { postJson } from '../../api/client.ts'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { runsKey, runsPath } from './run-queries.ts'

export function useStartRun(spaceId: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => postJson<GoldenRunBody>(runsPath(spaceId)),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: runsKey(spaceId) }),
    onError: notifyError,
  })
}

export function useCancelRun(spaceId: string) {
  const { t } = useTranslation('golden-questions')
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (runId: string) => postJson<GoldenRunBody>(`${runsPath(spaceId)}/${runId}/cancel`),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: runsKey(spaceId) })
      notifySuccess(t('runs.cancelled'))
    },
    onError: notifyError,
  })
}
