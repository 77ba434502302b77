import { Modal, type ModalProps } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** A dialog with a labelled close button. `isSticky`: a click next to it does not close it. */
export function Dialog(props: Pick<ModalProps, 'opened' | 'onClose' | 'title' | 'children'> & { isSticky?: boolean }) {
  const { isSticky = false, ...others } = props
  const { t } = useTranslation()
  return <Modal {...others} closeOnClickOutside={!isSticky} closeButtonProps={{ 'aria-label': t('cancel') }} />
}
