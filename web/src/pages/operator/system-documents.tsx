import { Group, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ConsoleSystemBody } from '@contract/console-system.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Section } from '../../ui/section.tsx'
import { TableFrame } from '../../ui/table-frame.tsx'
import { Time } from '../../ui/time.tsx'
import { OrganisationName } from './system-queue.tsx'
import { AnchorLink } from '../../ui/link.tsx'

/** Documents that could not be processed. */
export function DocumentSection({ system }: { system: ConsoleSystemBody }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  const { failedDocuments, storage } = system
  return (
    <Section title={t('failed.title')} description={t('failed.description')}>
      {storage !== null && storage.failures.length > 0 && (
        <Group gap="lg">
          {storage.failures.map(({ code, documents }) => (
            <Text key={code} size="sm">
              <Text span ff="monospace" size="xs">
                {code}
              </Text>{' '}
              {format.number(documents)}
            </Text>
          ))}
        </Group>
      )}
      {failedDocuments.length === 0 ? (
        <Dimmed>{t('failed.none')}</Dimmed>
      ) : (
        <TableFrame spacing={6} label={t('failed.title')} minimumWidth={760}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('failed.document')}</Table.Th>
              <Table.Th>{t('subjects.organisation')}</Table.Th>
              <Table.Th>{t('failed.code')}</Table.Th>
              <Table.Th>{t('failed.message')}</Table.Th>
              <Table.Th w={120}>{t('queue.when')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {failedDocuments.map((document) => (
              <Table.Tr key={document.id}>
                <Table.Td maw={280}>
                  <AnchorLink
                    to="/organisations/$organisationId/spaces/$spaceId/files/$documentId"
                    params={{
                      organisationId: document.organisationId ?? '',
                      spaceId: document.spaceId,
                      documentId: document.id,
                    }}
                    size="sm"
                    truncate
                    display="block"
                  >
                    {document.name}
                  </AnchorLink>
                </Table.Td>
                <Table.Td>
                  <OrganisationName {...document} />
                </Table.Td>
                <Table.Td>
                  <Text span ff="monospace" size="xs">
                    {document.code}
                  </Text>
                </Table.Td>
                <Table.Td>{document.message ?? '–'}</Table.Td>
                <Table.Td>
                  <Time value={document.at} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </TableFrame>
      )}
    </Section>
  )
}

/** What is stored, and where. */
export function StorageSection({ system }: { system: ConsoleSystemBody }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  const { storage } = system
  if (storage === null)
    return (
      <Section title={t('storage.title')}>
        <Dimmed>{t('storage.unknown')}</Dimmed>
      </Section>
    )
  const { documents, blobs } = storage
  return (
    <Section
      title={t('storage.title')}
      description={
        <>
          {t('storage.counted')} <Time value={storage.countedAt} />
        </>
      }
    >
      <TableFrame spacing={6} label={t('storage.title')} minimumWidth={320}>
        <Table.Tbody>
          <StorageRow label={t('storage.documents')}>
            {t('storage.documentCounts', {
              ready: format.number(documents.ready),
              processing: format.number(documents.processing),
              failed: format.number(documents.failed),
            })}
          </StorageRow>
          <StorageRow label={t('storage.chunks')}>{format.number(documents.chunks)}</StorageRow>
          <StorageRow label={t('storage.files')}>
            {`${format.number(blobs.files)} · ${format.bytes(blobs.bytes)}`}
            <Dimmed size="xs" style={{ overflowWrap: 'anywhere' }}>
              {blobs.label}
            </Dimmed>
          </StorageRow>
          {storage.databases.map(({ name, bytes, tables }) => (
            <StorageRow key={name} label={t(`storage.${name}`)}>
              {format.bytes(bytes)}
              <Dimmed size="xs">
                {tables
                  .slice(0, 4)
                  .map((table) => `${table.name} ${format.bytes(table.bytes)}`)
                  .join(' · ')}
              </Dimmed>
            </StorageRow>
          ))}
        </Table.Tbody>
      </TableFrame>
    </Section>
  )
}

function StorageRow({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th fw={400} w={160}>
        <Dimmed>{label}</Dimmed>
      </Table.Th>
      <Table.Td>{children}</Table.Td>
    </Table.Tr>
  )
}
