import type { SemanticSearchBody } from '@contract/semantic-search.ts'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { deleteJson, postJson, putJson } from '../../api/client.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { semanticSearchPath, semanticSearchQuery } from './routes.tsx'

/** Chooses a model, the same one again to continue at once, or with null none. */
export function useSemanticSearch(view: SemanticSearchBody) {
  const { t } = useTranslation('semantic-search')
  const queryClient = useQueryClient()
  const change = useMutation({
    mutationFn: (model: string | null) =>
      model === null
        ? deleteJson<SemanticSearchBody>(semanticSearchPath, ifMatch(view))
        : putJson<SemanticSearchBody>(semanticSearchPath, { model }, ifMatch(view)),
    onSuccess(stored) {
      queryClient.setQueryData(semanticSearchQuery.queryKey, stored)
      notifySuccess(t(stored.model === null ? 'isOff' : 'isOn'))
    },
    async onError(error) {
      notifyError(error)
      await queryClient.invalidateQueries({ queryKey: semanticSearchQuery.queryKey })
    },
  })
  return { change }
}

/** Begins, continues and stops the installation of the local model. */
export function useLocalModel() {
  const queryClient = useQueryClient()
  const path = `${semanticSearchPath}/local-model`
  const show = (stored: SemanticSearchBody) => queryClient.setQueryData(semanticSearchQuery.queryKey, stored)
  const onError = async (error: Error) => {
    notifyError(error)
    await queryClient.invalidateQueries({ queryKey: semanticSearchQuery.queryKey })
  }
  return {
    start: useMutation({ mutationFn: () => postJson<SemanticSearchBody>(path), onSuccess: show, onError }),
    stop: useMutation({ mutationFn: () => deleteJson<SemanticSearchBody>(path), onSuccess: show, onError }),
  }
}
