import type { DeveloperToolsView, OfferedIdView, OfferedModelView } from '@contract/console-developer-tools.ts'
import type { OrganisationBody } from '@contract/operator.ts'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getJson, patchJson } from '../../api/client.ts'
import { changeOneField } from '../../ui/conflict/change-one-field.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { notifyError } from '../../ui/notify.ts'
import { developerToolsQuery } from './routes.tsx'

/** A model with the id and the prices that the table shows. */
export interface ModelRow {
  model: OfferedModelView
  side: OfferedIdView
}

interface Switched {
  enable?: string[]
  disable?: string[]
}

export type ModelSwitch = (switched: Switched) => void

/** Most models in one request. */
const maximumIds = 1_000

/** Enables and disables models. The page shows the new state at once, and the former one if the server refuses. */
export function useModelSwitch(organisation: DeveloperToolsView['organisation']): ModelSwitch {
  const queryClient = useQueryClient()
  const { queryKey } = developerToolsQuery(organisation.id)
  const path = `/api/organisations/${organisation.id}`
  const { mutate } = useMutation({
    mutationFn: async ({ enable = [], disable = [] }: Switched) => {
      for (let first = 0; first < Math.max(enable.length, disable.length); first += maximumIds) {
        const part = (ids: string[]) => ids.slice(first, first + maximumIds)
        await changeOneField<{ version: string }>({
          view: organisation,
          send: (base) => patchJson(`${path}/models`, { enable: part(enable), disable: part(disable) }, ifMatch(base)),
          load: () => getJson<OrganisationBody>(path),
        })
      }
    },
    onMutate: async (switched) => {
      await queryClient.cancelQueries({ queryKey })
      const former = queryClient.getQueryData(queryKey)
      queryClient.setQueryData(queryKey, (view) => view && withSwitched(view, switched))
      return { former }
    },
    onError: (error, _switched, context) => {
      queryClient.setQueryData(queryKey, context?.former)
      notifyError(error)
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  return mutate
}

function withSwitched(view: DeveloperToolsView, { enable = [], disable = [] }: Switched): DeveloperToolsView {
  const [enabled, disabled] = [new Set(enable), new Set(disable)]
  return {
    ...view,
    models: view.models.map((model) => {
      if (enabled.has(model.id)) return { ...model, enabled: true }
      return disabled.has(model.id) ? { ...model, enabled: false } : model
    }),
  }
}
