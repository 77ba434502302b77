import '@mantine/core/styles/Notification.css'
import '@mantine/notifications/styles.css'
import { ModalsProvider, modals } from '@mantine/modals'
import { Notifications, notifications } from '@mantine/notifications'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'

export const overlays = { modals, notifications }
export type Overlays = typeof overlays

/** Where confirmations and notifications appear. `onReady` is called when they are listened for. */
export function OverlayHost({ onReady }: { onReady: (ready: Overlays) => void }) {
  const { t } = useTranslation()
  useEffect(() => onReady(overlays), [onReady])
  return (
    <>
      <ModalsProvider labels={{ confirm: t('confirm'), cancel: t('cancel') }} />
      <Notifications position="bottom-right" />
    </>
  )
}
