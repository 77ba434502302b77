import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api/client.ts'
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

/** Errors by field of one form. */
export function useFieldErrors() {
  const [errors, setErrors] = useState<Record<string, string>>({})
  return {
    errors,
    /** Replaces the errors; returns whether there are none. */
    check(found: Record<string, string | undefined>): boolean {
      const entries = Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== undefined)
      setErrors(Object.fromEntries(entries))
      return entries.length === 0
    },
    /** Shows an error of the API at its field, or at `other` where the form has no such field. */
    show(error: unknown, fields: readonly string[], other = 'form'): void {
      if (!(error instanceof ApiError)) throw error
      const field = fields.find((name) => error.param === name || error.param?.startsWith(`${name}.`))
      setErrors({ [field ?? other]: error.message })
    },
    clear: () => setErrors({}),
  }
}
