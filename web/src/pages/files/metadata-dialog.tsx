import { Button, Code, Group, JsonInput, Loader, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocumentProgressBody } from '@contract/document-progress.ts'
import { send } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { notifySuccess } from '../../ui/notify.ts'
import type { FileActions } from './file-actions.ts'
import { indentJson, jsonBytes, metadataText } from '../../ui/json-text.ts'
import { useMetadataText } from './use-metadata-text.ts'

interface MetadataDialogProps {
  document: DocumentProgressBody
  actions: FileActions
  onClose: () => void
}

/** Shows and changes the metadata of one document as JSON, with its fields next to it. */
export function MetadataDialog({ document, actions, onClose }: MetadataDialogProps) {
  const { t } = useTranslation('files')
  const { data, error } = useQuery({
    queryKey: ['document', document.id, 'metadata'],
    queryFn: async ({ signal }) => {
      const response = await send('GET', `/api/documents/${document.id}`, undefined, { signal })
      return metadataText(await response.text())
    },
    gcTime: 0,
    staleTime: 0,
  })
  return (
    <Dialog opened onClose={onClose} title={t('metadata.title', { name: document.name })} size="lg" centered>
      {data !== undefined ? (
        <MetadataForm text={data === 'null' ? '{}' : indentJson(data)} {...{ document, actions, onClose }} />
      ) : error ? (
        <Text c="red">{error.message}</Text>
      ) : (
        <Loader size="sm" aria-label={t('table.loading')} />
      )}
    </Dialog>
  )
}

function MetadataForm({ text: initial, document, actions, onClose }: MetadataDialogProps & { text: string }) {
  const { t } = useTranslation('files')
  const format = useFormat()
  const [text, setText] = useState(initial)
  const [isSaving, setSaving] = useState(false)
  const { problem, limit } = useMetadataText(text)
  async function save() {
    setSaving(true)
    const isSaved = await actions.saveMetadata(document.id, text.trim() === '' ? 'null' : text)
    setSaving(false)
    if (!isSaved) return
    notifySuccess(t('metadata.done'))
    onClose()
  }
  return (
    <Stack gap="md">
      <JsonInput
        data-autofocus
        label={t('metadata.label')}
        description={t('metadata.hint', { limit: limit })}
        value={text}
        onChange={setText}
        error={problem}
        autosize
        minRows={6}
        maxRows={16}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      />
      {problem === undefined && <Fields text={text} />}
      <Group justify="space-between">
        <Dimmed size="xs">{t('metadata.size', { size: format.number(jsonBytes(text)), limit: limit })}</Dimmed>
        <Group gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button loading={isSaving} disabled={problem !== undefined} onClick={() => void save()}>
            {t('action.save')}
          </Button>
        </Group>
      </Group>
    </Stack>
  )
}

function Fields({ text }: { text: string }) {
  const { t } = useTranslation('files')
  const fields = text.trim() === '' ? [] : Object.entries(JSON.parse(text) as Record<string, unknown>)
  if (fields.length === 0) {
    return <Dimmed>{t('metadata.none')}</Dimmed>
  }
  return (
    <Table.ScrollContainer minWidth={0} mah={200} type="native" tabIndex={0} aria-label={t('metadata.preview')}>
      <Table aria-label={t('metadata.preview')} layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="40%">{t('metadata.key')}</Table.Th>
            <Table.Th>{t('metadata.value')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {fields.map(([key, value]) => (
            <Table.Tr key={key}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{key}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {typeof value === 'string' ? value : <Code>{JSON.stringify(value)}</Code>}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
