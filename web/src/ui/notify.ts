import { ApiError } from '../api/client.ts'
import { withOverlays } from './overlays.tsx'

/** Problems stay longer than confirmations: people need time to read them. */
const problemMs = 10_000

export function notifySuccess(message: string): void {
  withOverlays(({ notifications }) => notifications.show({ message, color: 'teal' }))
}

export function notifyWarning(message: string): void {
  withOverlays(({ notifications }) => notifications.show({ message, color: 'orange', autoClose: problemMs }))
}

/** Shows the message of an error. Programming errors are thrown on. */
export function notifyError(error: unknown): void {
  if (!(error instanceof ApiError)) throw error
  const { message } = error
  withOverlays(({ notifications }) => notifications.show({ message, color: 'red', autoClose: problemMs }))
}
