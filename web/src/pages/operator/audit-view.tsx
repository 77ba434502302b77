import { Button, Center } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation, useSuspenseInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { downloadText } from '../../ui/download-text.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import { AuditEntries } from './audit-entries.tsx'
import { AuditFilters } from './audit-filters.tsx'
import { loadEntries } from './export-audit.ts'
import { type AuditSearch, auditPath, auditQuery } from './routes.tsx'

interface AuditViewProps {
  title: string
  description: string
  search: AuditSearch
  /** Only changes of this organisation, by the route for its administrators. */
  organisationId?: string
}

/** Changes with filters, newest first, and their export. */
export function AuditView({ title, description, search, organisationId }: AuditViewProps) {
  const { t } = useTranslation('operator')
  const navigate = useNavigate()
  const query = useSuspenseInfiniteQuery(auditQuery(search, organisationId))
  const entries = query.data.pages.flatMap((page) => page.items)
  const change = (next: AuditSearch) => void navigate({ to: '.', search: next as never, replace: true })
  const filter = (next: AuditSearch) => change({ ...search, ...next })
  const download = useMutation({
    mutationFn: () => loadEntries(auditPath(search, organisationId)),
    onSuccess({ items, isComplete }) {
      const exported = { filter: search, complete: isComplete, items }
      downloadText('admin-log.json', JSON.stringify(exported, null, 2), 'application/json')
      notifySuccess(t(isComplete ? 'audit.exported' : 'audit.exportedPart', { count: items.length }))
    },
    onError: notifyError,
  })
  const isFiltered = Object.keys(search).length > 0
  return (
    <Page
      title={title}
      description={description}
      actions={
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={() => download.mutate()}
          loading={download.isPending}
          disabled={entries.length === 0}
        >
          {t('audit.export')}
        </Button>
      }
    >
      <AuditFilters search={search} onChange={filter} onClear={isFiltered ? () => change({}) : undefined} />
      {entries.length === 0 ? (
        <EmptyState
          title={isFiltered ? t('audit.noMatch') : t('audit.empty')}
          text={isFiltered ? t('audit.noMatchText') : undefined}
        />
      ) : (
        <AuditEntries entries={entries} onFilter={filter} hideOrganisation={organisationId !== undefined} />
      )}
      {query.hasNextPage && (
        <Center>
          <Button variant="default" onClick={() => void query.fetchNextPage()} loading={query.isFetchingNextPage}>
            {t('audit.more')}
          </Button>
        </Center>
      )}
    </Page>
  )
}
