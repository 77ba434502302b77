import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { GoldenMessages, GoldenQuestionBody } from '@contract/golden-questions.ts'
import { deleteJson, patchJson, postJson } from '../../api/client.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { goldenKey, goldenPath } from './queries.ts'

/** The fields of a golden question as the form and a file of questions send them. */
export interface GivenQuestion {
  messages: GoldenMessages
  expectedDocuments: { id?: string; name?: string }[]
  expectedFacts: string[]
  mustAbstain: boolean
}

/** Adds a question, or changes `base`. The form shows the errors. */
export function useSaveQuestion(spaceId: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({
      base,
      question,
    }: {
      base: Pick<GoldenQuestionBody, 'id' | 'version'> | undefined
      question: GivenQuestion
    }) =>
      base
        ? patchJson(`${goldenPath(spaceId)}/${base.id}`, question, ifMatch(base))
        : postJson(goldenPath(spaceId), question),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: goldenKey(spaceId) }),
  })
}

export function useRemoveQuestion(spaceId: string) {
  const { t } = useTranslation('golden-questions')
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => deleteJson(`${goldenPath(spaceId)}/${id}`),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: goldenKey(spaceId) })
      notifySuccess(t('delete.done'))
    },
    onError: notifyError,
  })
}
