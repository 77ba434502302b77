import { useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { notifyError } from '../../ui/notify.ts'

/** The error of the last attempt to save, shown at its field. Errors that concern no field of the form are notifications. */
export function useFieldErrors(fields: readonly string[]) {
  const [failed, setFailed] = useState<{ field: string; message: string }>()
  return {
    errorOf: (field: string): string | undefined => (failed?.field === field ? failed.message : undefined),
    /** Runs `save`; resolves to false if the server refused it. */
    async attempt(save: () => Promise<unknown>): Promise<boolean> {
      setFailed(undefined)
      try {
        await save()
        return true
      } catch (error) {
        const param = error instanceof ApiError ? error.param : undefined
        const field = fields.find((name) => name === param) ?? fields.find((name) => param?.startsWith(`${name}.`))
        if (field !== undefined) setFailed({ field, message: (error as ApiError).message })
        else notifyError(error)
        return false
      }
    },
  }
}
