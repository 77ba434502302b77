import { Button, Group, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks'
import { IconPlus, IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { PageSteps } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { LoadingState } from '../../ui/loading-state.tsx'
import { Page } from '../../ui/page.tsx'
import { Select } from '../../ui/select.tsx'
import { CreateOrganisation } from './create-organisation.tsx'
import { OrganisationsTable } from './organisations-table.tsx'
import { type OrganisationsSearch, organisationsQuery, organisationsRoute } from './routes.tsx'

const searchPauseMs = 300

export function OrganisationsPage() {
  const { t } = useTranslation('operator')
  const search = organisationsRoute.useSearch()
  const navigate = useNavigate()
  const [isCreating, creating] = useDisclosure(false)
  const { data, isPlaceholderData, error } = useQuery(organisationsQuery(search))
  if (error) throw error
  const change = (next: OrganisationsSearch) =>
    void navigate({ to: '/operator/organisations', search: { ...search, offset: undefined, ...next }, replace: true })
  const isFiltered = Boolean(search.search ?? search.plan ?? search.gateway)
  const create = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={creating.open}>
      {t('create.open')}
    </Button>
  )
  const isEmpty = data?.total === 0
  return (
    <Page title={t('list.title')} description={t('list.description')} actions={isEmpty && !isFiltered ? null : create}>
      {(!isEmpty || isFiltered) && <Filters search={search} onChange={change} />}
      {!data ? (
        <LoadingState />
      ) : isEmpty ? (
        <EmptyState
          title={isFiltered ? t('list.noMatch') : t('list.empty')}
          text={isFiltered ? t('list.noMatchText') : t('list.emptyText')}
          onClear={isFiltered ? () => change({ search: undefined, plan: undefined, gateway: undefined }) : undefined}
          action={create}
        />
      ) : (
        <>
          <OrganisationsTable rows={data.items} search={search} onSort={change} isStale={isPlaceholderData} />
          <PageSteps {...data} onChange={(offset) => change({ offset })} />
        </>
      )}
      <CreateOrganisation opened={isCreating} onClose={creating.close} />
    </Page>
  )
}

function Filters({ search, onChange }: { search: OrganisationsSearch; onChange: (next: OrganisationsSearch) => void }) {
  const { t } = useTranslation('operator')
  const find = useDebouncedCallback(
    (text: string) => onChange({ search: text === '' ? undefined : text }),
    searchPauseMs,
  )
  return (
    <Group gap="sm" align="flex-end">
      <TextInput
        label={t('list.search')}
        placeholder={t('list.searchPlaceholder')}
        leftSection={<IconSearch size={16} aria-hidden />}
        defaultValue={search.search ?? ''}
        onChange={(event) => find(event.currentTarget.value)}
        w={{ base: '100%', xs: 280 }}
      />
      <Select
        label={t('fields.plan')}
        placeholder={t('list.all')}
        clearable
        value={search.plan ?? null}
        onChange={(plan) => onChange({ plan: plan ?? undefined })}
        data={(['free', 'team', 'enterprise'] as const).map((value) => ({ value, label: t(`plan.${value}`) }))}
        w={160}
      />
      <Select
        label={t('list.gateway')}
        placeholder={t('list.all')}
        clearable
        value={search.gateway ?? null}
        onChange={(gateway) => onChange({ gateway: gateway ?? undefined })}
        data={(['open', 'closed'] as const).map((value) => ({ value, label: t(`gateway.${value}`) }))}
        w={160}
      />
    </Group>
  )
}
