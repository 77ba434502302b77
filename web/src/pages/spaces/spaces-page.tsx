import { Anchor, Button, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { ListedSpaceView } from '@contract/console-spaces.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { type DataColumn, DataTable, PageSteps } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Page } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { CreateSpaceDialog } from './create-space-dialog.tsx'
import { ListControls } from './list-controls.tsx'
import { spaceListQuery, type SpaceListSearch, spacesPerPage } from './queries.ts'
import { spaceListRoute } from './routes.tsx'
import { DocumentCounts, ModelName, StateBadge } from './space-fields.tsx'
import './texts.ts'

/** The Spaces of an organisation. */
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
        <Stack gap="md">
          <ListControls search={search} onChange={change} />
          <DataTable
            label={t('title')}
            columns={columns}
            rows={data.items}
            rowId={({ id }) => id}
            minimumWidth={820}
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
      <CreateSpaceDialog organisationId={organisationId} opened={isCreating} onClose={dialog.close} />
    </Page>
  )
}

function useColumns(organisationId: string): DataColumn<ListedSpaceView>[] {
  const { t } = useTranslation('spaces')
  const format = useFormat()
  return useMemo(() => {
    const column = (id: string, header: string, cell: (space: ListedSpaceView) => ReactNode) => ({
      id,
      header,
      enableSorting: false,
      cell: ({ row }: { row: { original: ListedSpaceView } }) => cell(row.original),
    })
    return [
      column('name', t('field.name'), (space) => (
        <Anchor
          component={Link}
          to={`/organisations/${organisationId}/spaces/${space.id}/files` as '/'}
          fw={500}
          size="sm"
        >
          {space.name}
        </Anchor>
      )),
      column('state', t('field.state'), ({ published }) => <StateBadge published={published} />),
      column('documents', t('field.documents'), ({ documents }) => <DocumentCounts documents={documents} />),
      column('size', t('field.size'), ({ documents }) => format.bytes(documents.sizeBytes)),
      column('model', t('field.model'), (space) => <ModelName model={space.model} available={space.modelAvailable} />),
      column('changed', t('field.changed'), ({ updatedAt }) => <Time value={updatedAt} />),
    ]
  }, [organisationId, t, format])
}
