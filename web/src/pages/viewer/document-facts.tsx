import { Alert, Anchor, Badge, Code, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { DocumentViewBody } from '@contract/document-viewer.ts'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { CopyField } from '../../ui/copy-field.tsx'
import { WarningText } from '../../ui/failures/warning-text.tsx'
import { Time } from '../../ui/time.tsx'
import styles from './viewer.module.css'

type ViewedDocument = DocumentViewBody['document']

/** Shows a page; undefined where pages cannot be shown. */
type OnPage = ((page: number) => void) | undefined

/** What is known about a document: state, size, pages, warnings, metadata. */
export function DocumentFacts({ document, onPage }: { document: ViewedDocument; onPage: OnPage }) {
  const { t } = useTranslation('viewer')
  const format = useFormat()
  const { status, mimeType, sizeBytes, pageCount, chunkCount, createdAt, updatedAt } = document
  return (
    <div className={styles['scroller']} tabIndex={0} role="region" aria-label={t('facts.label')}>
      <Stack p="md" gap="lg">
        <dl className={styles['facts']}>
          <Fact name={t('facts.status')}>
            <StatusBadge status={status} />
          </Fact>
          <Fact name={t('facts.type')}>{mimeType}</Fact>
          <Fact name={t('facts.size')}>{format.bytes(sizeBytes)}</Fact>
          {pageCount !== null && <Fact name={t('facts.pages')}>{format.number(pageCount)}</Fact>}
          {chunkCount !== null && <Fact name={t('facts.chunks')}>{format.number(chunkCount)}</Fact>}
          <Fact name={t('facts.uploaded')}>
            <Time value={createdAt} />
          </Fact>
          <Fact name={t('facts.changed')}>
            <Time value={updatedAt} />
          </Fact>
        </dl>
        <CopyField label={t('facts.id')} value={document.id} />
        <Warnings document={document} onPage={onPage} />
        <Metadata metadata={document.metadata} />
      </Stack>
    </div>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

const colors = { ready: 'portico', processing: 'gray', failed: 'red' } as const

function StatusBadge({ status }: { status: ViewedDocument['status'] }) {
  const { t } = useTranslation('viewer')
  return (
    <Badge variant="light" color={colors[status]} tt="none">
      {t(`status.${status}`)}
    </Badge>
  )
}

function Warnings({ document: { warnings }, onPage }: { document: ViewedDocument; onPage: OnPage }) {
  const { t } = useTranslation('viewer')
  if (warnings.length === 0) return null
  return (
    <Alert
      color="yellow"
      icon={<IconAlertTriangle size={18} aria-hidden />}
      title={t('facts.warnings')}
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      <Stack gap="xs">
        {warnings.map(({ pages, ...warning }, index) =>
          onPage && pages ? (
            <div key={index}>
              <WarningText warning={warning} />
              <WarningPages pages={pages} onPage={onPage} />
            </div>
          ) : (
            <WarningText key={index} warning={warnings[index]!} />
          ),
        )}
      </Stack>
    </Alert>
  )
}

function WarningPages({ pages, onPage }: { pages: readonly number[]; onPage(page: number): void }) {
  const { t } = useTranslation('viewer')
  const format = useFormat()
  return (
    <Group gap={8} mt={4} role="group" aria-label={t('facts.warningPages')}>
      {pages.map((page) => (
        <Anchor key={page} component="button" type="button" size="sm" onClick={() => onPage(page)}>
          {t('place.page', { page: format.number(page) })}
        </Anchor>
      ))}
    </Group>
  )
}

function Metadata({ metadata }: Pick<ViewedDocument, 'metadata'>) {
  const { t } = useTranslation('viewer')
  const entries = Object.entries(metadata ?? {})
  if (entries.length === 0) return null
  return (
    <div>
      <Text size="sm" fw={600} mb={6}>
        {t('facts.metadata')}
      </Text>
      <dl className={styles['facts']}>
        {entries.map(([name, value]) => (
          <Fact key={name} name={name}>
            <Code>{typeof value === 'string' ? value : JSON.stringify(value)}</Code>
          </Fact>
        ))}
      </dl>
    </div>
  )
}
