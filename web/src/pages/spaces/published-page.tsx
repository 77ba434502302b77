import { Anchor, Stack } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { ListedSpaceView } from '@contract/console-spaces.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { type DataColumn, DataTable, PageSteps } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Page } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { ListControls } from './list-controls.tsx'
import { spaceListQuery, type SpaceListSearch, spacesPerPage } from './queries.ts'
import { publishedListRoute } from './routes.tsx'
import { DocumentCounts, ModelName, StateBadge } from './space-fields.tsx'
import styles from './spaces.module.css'
import './texts.ts'

/** Team Settings > Published Spaces: which Spaces have an endpoint. */
export function PublishedPage() {
  const { t } = useTranslation('spaces')
  const { organisationId } = publishedListRoute.useParams()
  const search = publishedListRoute.useSearch()
  const navigate = publishedListRoute.useNavigate()
  const { data } = useSuspenseQuery(spaceListQuery(organisationId, search))
  const columns = useColumns(organisationId)
  const change = (next: SpaceListSearch) => void navigate({ search: next, replace: true })
  const isEmpty = data.total === 0 && !search.search && !search.state
  const toSpaces = (
    <Anchor component={Link} to={`/organisations/${organisationId}/spaces` as '/'}>
      {t('published.toSpaces')}
    </Anchor>
  )
  return (
    <Page title={t('published.title')} description={t('published.description')}>
      {isEmpty ? (
        <EmptyState title={t('list.empty')} text={t('published.emptyText')} action={toSpaces} />
      ) : (
        <Stack gap="md">
          <ListControls search={search} onChange={change} />
          <DataTable
            label={t('published.title')}
            columns={columns}
            rows={data.items}
            rowId={({ id }) => id}
            minimumWidth={900}
            empty={<EmptyState title={t('list.noMatch')} text={t('list.noMatchText')} />}
          />
          <PageSteps
            total={data.total}
            limit={spacesPerPage}
            offset={data.offset}
            onChange={(offset) => change({ ...search, offset })}
          />
        </Stack>
      )}
    </Page>
  )
}

function useColumns(organisationId: string): DataColumn<ListedSpaceView>[] {
  const { t } = useTranslation('spaces')
  return useMemo(() => {
    const column = (id: string, header: string, cell: (space: ListedSpaceView) => ReactNode) => ({
      id,
      header,
      enableSorting: false,
      cell: ({ row }: { row: { original: ListedSpaceView } }) => cell(row.original),
    })
    return [
      column('name', t('field.name'), ({ id, name }) => (
        <Anchor
          component={Link}
          to={`/organisations/${organisationId}/published-spaces/${id}` as '/'}
          fw={500}
          size="sm"
        >
          {name}
        </Anchor>
      )),
      column('state', t('field.state'), ({ published }) => <StateBadge published={published} />),
      column('endpoint', t('field.endpointId'), ({ endpointId, published }) =>
        endpointId === null ? (
          '–'
        ) : (
          <span className={styles['endpoint']} data-inactive={published ? undefined : true}>
            <code>{endpointId}</code>
            <CopyButton value={endpointId} label={t('published.copyEndpoint')} />
          </span>
        ),
      ),
      column('documents', t('field.documents'), ({ documents }) => <DocumentCounts documents={documents} />),
      column('model', t('field.model'), (space) => <ModelName model={space.model} available={space.modelAvailable} />),
      column('changed', t('field.changed'), ({ updatedAt }) => <Time value={updatedAt} />),
    ]
  }, [organisationId, t])
}
