import { Text } from '@mantine/core'
import i18next from 'i18next'
import { withOverlays } from './overlays.tsx'

/** Opens a dialog before an action that cannot be undone. `confirm` is the verb: "Delete". */
export function openConfirm(props: { title: string; text: string; confirm: string; onConfirm: () => void }): void {
  const cancel = i18next.t('cancel')
  withOverlays(({ modals }) =>
    modals.openConfirmModal({
      title: props.title,
      children: <Text size="sm">{props.text}</Text>,
      labels: { confirm: props.confirm, cancel },
      // White on the other shades of red has a contrast below 4.5.
      confirmProps: { color: 'red.9' },
      closeButtonProps: { 'aria-label': cancel },
      onConfirm: props.onConfirm,
    }),
  )
}
