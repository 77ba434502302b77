import { Text } from '@mantine/core'
import { modals } from '@mantine/modals'

/** Opens a dialog before an action that cannot be undone. `confirm` is the verb: "Delete". */
export function openConfirm(props: { title: string; text: string; confirm: string; onConfirm: () => void }): void {
  modals.openConfirmModal({
    title: props.title,
    children: <Text size="sm">{props.text}</Text>,
    labels: { confirm: props.confirm, cancel: undefined },
    confirmProps: { color: 'red' },
    onConfirm: props.onConfirm,
  })
}
