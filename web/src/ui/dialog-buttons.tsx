import { Button, type ButtonProps, Group } from '@mantine/core'
import { useTranslation } from 'react-i18next'

interface Props extends Pick<ButtonProps, 'color' | 'disabled' | 'loading'> {
  submit: string
  /** Default: submits the form around the buttons. */
  onSubmit?: () => void
  onCancel: () => void
}

/** The end of a dialog: the way out of it, and what it is for. */
export function DialogButtons({ submit, onSubmit, onCancel, ...state }: Props) {
  const { t } = useTranslation()
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        {t('cancel')}
      </Button>
      <Button type={onSubmit ? 'button' : 'submit'} onClick={onSubmit} {...state}>
        {submit}
      </Button>
    </Group>
  )
}
