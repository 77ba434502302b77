import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { ListedSpaceView } from '@contract/console-spaces.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Page } from '../../ui/page.tsx'
import { CreateSpaceDialog } from './create-space-dialog.tsx'
import { spaceListQuery, type SpaceListSearch } from './queries.ts'
import { spaceListRoute } from './routes.tsx'
import { SpaceList, useSpaceColumns } from './space-list.tsx'
import { SpaceSteps } from './space-steps.tsx'
import { AnchorLink } from '../../ui/link.tsx'

export function SpacesPage() {
  const { t } = useTranslation('spaces')
  const { organisationId } = spaceListRoute.useParams()
  const search = spaceListRoute.useSearch()
  const navigate = spaceListRoute.useNavigate()
  const { data } = useSuspenseQuery(spaceListQuery(organisationId, search))
  const [isCreating, dialog] = useDisclosure(false)
  const columns = useColumns(organisationId)
  const change = (next: SpaceListSearch) => void navigate({ search: next, replace: true })
  const isUnfiltered = !search.search && !search.state
  const create = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={dialog.open}>
      {t('create.action')}
    </Button>
  )
  const isEmpty = data.total === 0 && isUnfiltered
  return (
    <Page title={t('title')} description={t('description')} actions={isEmpty ? undefined : create}>
      {isEmpty ? (
        <EmptyState title={t('list.empty')} text={t('list.emptyText')} action={create} />
      ) : (
        <>
          {isUnfiltered && <SpaceSteps organisationId={organisationId} page={data} />}
          <SpaceList
            label={t('title')}
            columns={columns}
            minimumWidth={820}
            page={data}
            search={search}
            onChange={change}
          />
        </>
      )}
      <CreateSpaceDialog organisationId={organisationId} opened={isCreating} onClose={dialog.close} />
    </Page>
  )
}

function useColumns(organisationId: string): DataColumn<ListedSpaceView>[] {
  const { t } = useTranslation('spaces')
  const format = useFormat()
  const { state, documents, model, changed } = useSpaceColumns()
  return useMemo(
    () => [
      column('name', t('field.name'), ({ id, name }) => (
        <AnchorLink
          to="/organisations/$organisationId/spaces/$spaceId/files"
          params={{ organisationId, spaceId: id }}
          fw={500}
          size="sm"
        >
          {name}
        </AnchorLink>
      )),
      state,
      documents,
      column('size', t('field.size'), (space) => format.bytes(space.documents.sizeBytes)),
      model,
      changed,
    ],
    [organisationId, t, format, state, documents, model, changed],
  )
}
