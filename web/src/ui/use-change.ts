import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { notifyError, notifySuccess } from './notify.ts'

interface ChangeOptions<Result, Input> {
  /** The queries that the change makes stale. */
  stale: QueryKey
  /** The notification that it is done. */
  done?: ((result: Result, input: Input) => string) | undefined
  /** The form shows an error; else a notification does. */
  hasErrorPlace?: boolean | undefined
}

/** A change at the server: runs it, then reloads what the pages show. `run` resolves to false if nothing was changed. */
export function useChange<Result, Input = void>(
  run: (input: Input) => Promise<Result>,
  { stale, done, hasErrorPlace = false }: ChangeOptions<Result, Input>,
) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: run,
    async onSuccess(result, input) {
      if (result === false) return
      await queryClient.invalidateQueries({ queryKey: stale })
      if (done) notifySuccess(done(result, input))
    },
    ...(!hasErrorPlace && { onError: notifyError }),
  })
}
