import { Skeleton, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { DocumentTextBody, DocumentViewBody } from '@contract/document-viewer.ts'
import { useTranslation } from 'react-i18next'
import { jsonQuery } from '../../api/queries.ts'
import { WarningText } from '../../ui/failures/warning-text.tsx'
import styles from './viewer.module.css'

interface PageTextProps {
  document: DocumentViewBody['document']
  page: number
}

/** What was read of the page in view, next to its picture, and what was lost or guessed. */
export function PageText({ document: { id, version, updatedAt, warnings }, page }: PageTextProps) {
  const { t } = useTranslation('viewer')
  const { data, isError } = useQuery(
    jsonQuery<DocumentTextBody>(
      ['document', id, 'page', `${version} ${updatedAt}`, page],
      `/api/documents/${encodeURIComponent(id)}/text?page=${page}`,
      { staleTime: Number.POSITIVE_INFINITY, placeholderData: keepPreviousData },
    ),
  )
  const notes = warnings.filter(({ pages }) => pages?.includes(page))
  return (
    <div className={styles['scroller']} tabIndex={0} role="region" aria-label={t('pageText.label', { page })}>
      <Stack p="md" gap="md">
        {notes.map(({ pages: _pages, ...warning }, index) => (
          <WarningText key={index} warning={warning} />
        ))}
        {data ? (
          <Text size="sm" className={styles['passage']} c={data.text === '' ? 'dimmed' : undefined}>
            {data.text === '' ? t('pageText.empty') : data.text}
          </Text>
        ) : isError ? (
          <Text size="sm">{t('text.failed')}</Text>
        ) : (
          <Skeleton h={120} />
        )}
      </Stack>
    </div>
  )
}
