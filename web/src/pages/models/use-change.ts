import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getJson } from '../../api/client.ts'
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
