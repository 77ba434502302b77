import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** Asks before a page with unsaved changes is left. */
export function LeaveDialog({ onStay, onLeave }: { onStay: () => void; onLeave: () => void }) {
  const { t } = useTranslation('spaces')
  return (
    <Modal opened onClose={onStay} title={t('leave.title')}>
      <Stack>
        <Text size="sm">{t('leave.text')}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onStay} data-autofocus>
            {t('leave.stay')}
          </Button>
          <Button color="red.9" onClick={onLeave}>
            {t('leave.leave')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
