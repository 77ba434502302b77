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
  const change = useChange(
    (model: string | null) =>
      model === null
        ? deleteJson<SemanticSearchBody>(semanticSearchPath, ifMatch(view))
        : putJson<SemanticSearchBody>(semanticSearchPath, { model }, ifMatch(view)),
    ({ model }) => notifySuccess(t(model === null ? 'isOff' : 'isOn')),
  )
  return { change }
}

/** Begins, continues and stops the installation of the local model. */
export function useLocalModel() {
  const path = `${semanticSearchPath}/local-model`
  return {
    start: useChange<void>(() => postJson<SemanticSearchBody>(path)),
    stop: useChange<void>(() => deleteJson<SemanticSearchBody>(path)),
  }
}

/** A change whose answer is what the page shows next; after an error the page loads it. */
function useChange<Input>(
  change: (input: Input) => Promise<SemanticSearchBody>,
  onChanged?: (stored: SemanticSearchBody) => void,
) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess(stored) {
      queryClient.setQueryData(semanticSearchQuery.queryKey, stored)
      onChanged?.(stored)
    },
    async onError(error) {
      notifyError(error)
      await queryClient.invalidateQueries({ queryKey: semanticSearchQuery.queryKey })
    },
  })
}
