import { notifications } from '@mantine/notifications'

export function notifyWarning(message: string): void {
  notifications.show({ message, color: 'orange', autoClose: 10_000 })
}
