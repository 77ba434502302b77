import { useMutation, useQueryClient } from '@tanstack/react-query'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { catalogueKey } from './routes.tsx'

/**
 * A change of the catalogue: runs it, then reloads what the pages show. An error is shown as a notification, or by the form that states
 * `hasErrorPlace`.
 */
export function useChange<Input>(
  run: (input: Input) => Promise<unknown>,
  done?: (input: Input) => string,
  { hasErrorPlace = false } = {},
) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: run,
    async onSuccess(_result, input) {
      await queryClient.invalidateQueries({ queryKey: catalogueKey })
      if (done) notifySuccess(done(input))
    },
    ...(!hasErrorPlace && { onError: notifyError }),
  })
}
