import { useSuspenseQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { ListedSpaceView } from '@contract/console-spaces.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { column, type DataColumn } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Page } from '../../ui/page.tsx'
import { spaceListQuery, type SpaceListSearch } from './queries.ts'
import { publishedListRoute } from './routes.tsx'
import { SpaceList, useSpaceColumns } from './space-list.tsx'
import styles from './spaces.module.css'
import { AnchorLink } from '../../ui/link.tsx'

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
    <AnchorLink to="/organisations/$organisationId/spaces" params={{ organisationId }}>
      {t('published.toSpaces')}
    </AnchorLink>
  )
  return (
    <Page title={t('published.title')} description={t('published.description')}>
      {isEmpty ? (
        <EmptyState title={t('list.empty')} text={t('published.emptyText')} action={toSpaces} />
      ) : (
        <SpaceList
          label={t('published.title')}
          columns={columns}
          minimumWidth={900}
          page={data}
          search={search}
          onChange={change}
        />
      )}
    </Page>
  )
}

function useColumns(organisationId: string): DataColumn<ListedSpaceView>[] {
  const { t } = useTranslation('spaces')
  const { state, documents, model, changed } = useSpaceColumns()
  return useMemo(
    () => [
      column('name', t('field.name'), ({ id, name }) => (
        <AnchorLink
          to="/organisations/$organisationId/published-spaces/$spaceId"
          params={{ organisationId, spaceId: id }}
          fw={500}
          size="sm"
        >
          {name}
        </AnchorLink>
      )),
      state,
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
      documents,
      model,
      changed,
    ],
    [organisationId, t, state, documents, model, changed],
  )
}
