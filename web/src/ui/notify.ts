import { notifications } from '@mantine/notifications'
import { ApiError } from '../api/client.ts'

export function notifySuccess(message: string): void {
  notifications.show({ message, color: 'teal' })
}

/** Shows the message of an error. Programming errors are thrown on. */
export function notifyError(error: unknown): void {
  if (!(error instanceof ApiError)) throw error
  notifications.show({ message: error.message, color: 'red', autoClose: 10_000 })
}
