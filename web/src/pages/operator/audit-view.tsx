import { Button, Center } from '@mantine/core'
import { useSuspenseInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Page } from '../../ui/page.tsx'
import { AuditEntries } from './audit-entries.tsx'
import { AuditExport } from './audit-export.tsx'
import { AuditFilters } from './audit-filters.tsx'
import { type AuditSearch, auditQuery } from './routes.tsx'

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
  const isFiltered = Object.keys(search).length > 0
  return (
    <Page
      title={title}
      description={description}
      actions={<AuditExport search={search} organisationId={organisationId} isEmpty={entries.length === 0} />}
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
