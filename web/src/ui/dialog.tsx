import { Modal, type ModalProps } from '@mantine/core'
import { useCloseGuard } from './close-guard.tsx'

/** A dialog with fields: it asks before typed text is lost. */
export function Dialog({ onClose, children, ...others }: ModalProps) {
  const { props, wrap } = useCloseGuard(onClose)
  return (
    <Modal {...others} {...props}>
      {wrap(children)}
    </Modal>
  )
}
