import { Group, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ConsoleOrganisationsBody } from '@contract/console-organisations.ts'
import type { InstallationUsage } from '@contract/installation-usage.ts'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { jsonQuery, withQuery } from '../../api/queries.ts'
import { organisationNameQuery } from '../../app/session.ts'
import { Select } from '../../ui/select.tsx'
import { dayBefore } from './overview-query.ts'
import { useOverview } from './use-overview.ts'

const presets = [7, 30, 90] as const
const searchPauseMs = 250
const foundOrganisations = 20

/** Range and filters, all of them in the address. */
export function OverviewFilters({ report: { options, from, to } }: { report: InstallationUsage }) {
  const { t } = useTranslation('overview')
  const { search, change } = useOverview()
  const choice = (name: 'provider' | 'model' | 'hosting', values: string[]) => (
    <Select
      label={t(`split.${name}`)}
      placeholder={t('filters.all')}
      data={search[name] === undefined || values.includes(search[name]) ? values : [...values, search[name]]}
      value={search[name] ?? null}
      onChange={(value) => change({ [name]: value ?? undefined })}
      clearable
      searchable
      w={{ base: '100%', xs: 165 }}
    />
  )
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label={t('filters.label')}>
      <Range from={from} to={to} />
      <OrganisationFilter />
      {choice('provider', options.providers)}
      {choice('model', options.models)}
      {choice('hosting', options.hostings)}
    </Group>
  )
}

function Range({ from, to }: { from: string; to: string }) {
  const { t } = useTranslation('overview')
  const { search, change } = useOverview()
  const days = search.from === undefined ? 30 : presets.find((count) => search.from === dayBefore(count - 1))
  const value = days !== undefined && search.to === undefined ? String(days) : 'custom'
  const day = (name: 'from' | 'to', shown: string) => (
    <TextInput
      type="date"
      label={t(`filters.${name}`)}
      value={shown}
      onChange={({ currentTarget }) => currentTarget.value !== '' && change({ [name]: currentTarget.value })}
      w={150}
    />
  )
  return (
    <>
      <Select
        label={t('filters.range')}
        allowDeselect={false}
        data={[
          ...presets.map((count) => ({ value: String(count), label: t('filters.lastDays', { count }) })),
          { value: 'custom', label: t('filters.custom') },
        ]}
        value={value}
        onChange={(chosen) =>
          change(
            chosen === 'custom'
              ? { from, to }
              : { from: chosen === '30' ? undefined : dayBefore(Number(chosen) - 1), to: undefined },
          )
        }
        w={{ base: '100%', xs: 150 }}
      />
      {value === 'custom' && (
        <>
          {day('from', search.from ?? from)}
          {day('to', search.to ?? to)}
        </>
      )}
    </>
  )
}

/** Finds any organisation by name; the server searches. */
function OrganisationFilter() {
  const { t } = useTranslation('overview')
  const { search, change } = useOverview()
  const [text, setText] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [wanted] = useDebouncedValue(text, searchPauseMs)
  const found = useQuery({
    ...jsonQuery<ConsoleOrganisationsBody>(
      ['operator', 'found-organisations', wanted],
      withQuery('/api/console/organisations', {
        search: wanted,
        sort: 'name',
        direction: 'asc',
        limit: foundOrganisations,
      }),
    ),
    enabled: isOpen,
    placeholderData: keepPreviousData,
  })
  const chosen = useQuery({
    ...organisationNameQuery(search.organisationId ?? ''),
    enabled: search.organisationId !== undefined,
  }).data?.name
  const listed = (found.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const data =
    search.organisationId === undefined || listed.some(({ value }) => value === search.organisationId)
      ? listed
      : [{ value: search.organisationId, label: chosen ?? search.organisationId.slice(0, 8) }, ...listed]
  return (
    <Select
      label={t('split.organisation')}
      placeholder={t('filters.all')}
      data={data}
      // The server has filtered; a search by id finds a name without it.
      filter={({ options }) => options}
      value={search.organisationId ?? null}
      onChange={(organisationId) =>
        change({ organisationId: organisationId ?? undefined, split: organisationId === null ? undefined : 'model' })
      }
      onSearchChange={setText}
      onDropdownOpen={() => {
        setText('')
        setOpen(true)
      }}
      nothingFoundMessage={t('filters.noOrganisation')}
      clearable
      searchable
      w={{ base: '100%', xs: 200 }}
    />
  )
}
