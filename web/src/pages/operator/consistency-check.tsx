import { Alert, Button, Modal, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { AuditBody } from '@contract/audit.ts'
import { getJson } from '../../api/client.ts'
import { notifyError } from '../../ui/notify.ts'
import { TableFrame } from '../../ui/table-frame.tsx'

/** Compares ledger, documents and index. It reads all data, so it runs on demand only. */
export function ConsistencyCheck() {
  const { t } = useTranslation('operator')
  const [isOpen, dialog] = useDisclosure(false)
  const check = useMutation({
    mutationFn: () => getJson<AuditBody>('/api/audit'),
    onSuccess: dialog.open,
    onError: notifyError,
  })
  return (
    <>
      <Button variant="default" onClick={() => check.mutate()} loading={check.isPending}>
        {t('check.run')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={dialog.close}
        title={t('check.title')}
        size="xl"
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        {check.data && <Findings audit={check.data} />}
      </Modal>
    </>
  )
}

function Findings({ audit }: { audit: AuditBody }) {
  const { t } = useTranslation('operator')
  const areas = audit.areas.join(', ')
  if (audit.ok)
    return (
      <Alert color="portico" variant="light" title={t('check.ok')}>
        {t('check.okText', { areas })}
      </Alert>
    )
  const columns = ['area', 'rule', 'subject', 'expected', 'found'] as const
  return (
    <Stack>
      <Text size="sm">{t('check.findings', { count: audit.findings.length, areas })}</Text>
      <TableFrame spacing={6} label={t('check.title')} minimumWidth={640}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((name) => (
              <Table.Th key={name}>{t(`check.${name}`)}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {audit.findings.slice(0, maximumShown).map((finding, index) => (
            <Table.Tr key={index}>
              {columns.map((name) => (
                <Table.Td key={name}>{finding[name]}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </TableFrame>
    </Stack>
  )
}

/** More findings than anyone reads; `portico audit` prints all. */
const maximumShown = 200
