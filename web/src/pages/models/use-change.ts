import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getJson, patchJson } from '../../api/client.ts'
import { changeOneField } from '../../ui/conflict/change-one-field.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { catalogueKey } from './routes.tsx'

/**
 * A change of the catalogue: runs it, then reloads what the pages show. An error is shown as a notification, or by the form that states
 * `hasErrorPlace`. `run` resolves to false if nothing was changed.
 */
export function useChange<Input>(
  run: (input: Input) => Promise<unknown>,
  done?: (input: Input) => string,
  { hasErrorPlace = false } = {},
) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: run,
    async onSuccess(result, input) {
      await queryClient.invalidateQueries({ queryKey: catalogueKey })
      if (done && result !== false) notifySuccess(done(input))
    },
    ...(!hasErrorPlace && { onError: notifyError }),
  })
}

/** Loads an entry of the catalogue, after what the pages show: their form is filled from the newer of both. */
export function useFreshEntry() {
  const queryClient = useQueryClient()
  return async <Body>(path: string): Promise<Body> => {
    await queryClient.invalidateQueries({ queryKey: catalogueKey })
    return getJson<Body>(path)
  }
}

/** The switch of an entry of the catalogue. */
export function useEnable(path: string, view: { version: string }) {
  const load = useFreshEntry()
  return useChange((enabled: boolean) =>
    changeOneField({
      view,
      send: (base) => patchJson(path, { enabled }, ifMatch(base)),
      load: () => load<{ version: string }>(path),
    }),
  )
}
