import { Box, Button, getDefaultZIndex, Group, Modal, Stack, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

export interface ConflictDialogProps {
  fields: { label: string; mine: unknown; theirs: unknown }[]
  onKeepMine: () => void
  onUseTheirs: () => void
  onClose: () => void
}

/** Shows the values of both persons, and asks which to keep. */
export function ConflictDialog({ fields, onKeepMine, onUseTheirs, onClose }: ConflictDialogProps) {
  const { t } = useTranslation('conflict')
  const textOf = (value: unknown): string => {
    if (typeof value === 'boolean') return value ? t('on') : t('off')
    const text = Array.isArray(value) ? value.join(', ') : String(value ?? '')
    return text === '' ? t('none') : text
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('title')}
      size="xl"
      // Above the drawer whose form it belongs to.
      zIndex={getDefaultZIndex('modal') + 2}
      closeButtonProps={{ 'aria-label': t('close', { ns: 'common' }) }}
    >
      <Stack>
        <Text size="sm">{t('text')}</Text>
        <Box mah="50vh" tabIndex={0} role="region" aria-label={t('title')} style={{ overflowY: 'auto' }}>
          <Table verticalSpacing="xs" layout="fixed" aria-label={t('title')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th w="32%">{t('field')}</Table.Th>
                <Table.Th>{t('mine')}</Table.Th>
                <Table.Th>{t('theirs')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {fields.map(({ label, mine, theirs }) => (
                <Table.Tr key={label} style={{ verticalAlign: 'top' }}>
                  <Table.Th scope="row" style={{ overflowWrap: 'anywhere', hyphens: 'auto' }}>
                    {label}
                  </Table.Th>
                  {[mine, theirs].map((value, column) => (
                    <Table.Td key={column} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                      {textOf(value)}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Box>
        <Group justify="flex-end">
          <Button variant="default" onClick={onUseTheirs}>
            {t('useTheirs')}
          </Button>
          <Button onClick={onKeepMine}>{t('keepMine')}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
