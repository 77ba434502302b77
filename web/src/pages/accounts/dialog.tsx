import type { ModalProps } from '@mantine/core'
import { Dialog as GuardedDialog } from '../../ui/dialog.tsx'

/** `isSticky`: a click next to it does not close it. */
export function Dialog(props: Pick<ModalProps, 'opened' | 'onClose' | 'title' | 'children'> & { isSticky?: boolean }) {
  const { isSticky = false, ...others } = props
  return <GuardedDialog {...others} closeOnClickOutside={!isSticky} />
}
