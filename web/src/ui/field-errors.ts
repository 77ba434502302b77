import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import { notifyError } from './notify.ts'

/**
 * The errors of one form by field. An error of the API that concerns none of `fields` is shown at `other`, or as a notification if the
 * form has no such place.
 */
export function useFieldErrors(fields: readonly string[], { other }: { other?: string } = {}) {
  const [errors, setErrors] = useState<Record<string, string>>({})
  const show = (error: unknown): void => {
    if (!(error instanceof ApiError)) throw error
    const { param, message } = error
    const field = fields.find((name) => name === param) ?? fields.find((name) => param?.startsWith(`${name}.`)) ?? other
    if (field === undefined) notifyError(error)
    setErrors(field === undefined ? {} : { [field]: message })
  }
  return {
    errors,
    show,
    /** Replaces the errors by those that the form has found; returns whether there are none. */
    check(found: Record<string, string | undefined>): boolean {
      const entries = Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== undefined)
      setErrors(Object.fromEntries(entries))
      return entries.length === 0
    },
    /** Runs `save`; resolves to false if the server refused it. */
    async attempt(save: () => Promise<unknown>): Promise<boolean> {
      setErrors({})
      try {
        await save()
        return true
      } catch (error) {
        show(error)
        return false
      }
    },
  }
}
