import { Divider, NavLink, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconBuilding, IconCheck, IconSearch, IconSettings } from '@tabler/icons-react'
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ConsoleOrganisationsBody } from '@contract/console-organisations.ts'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { getJson } from '../api/client.ts'
import { organisationNameQuery } from './organisation-name.ts'
import { recentOrganisations } from './remembered-organisation.ts'
import { useSession } from './session.ts'

const searchPauseMs = 200
const shownOrganisations = 8

interface Props {
  organisationId: string | undefined
  onChosen: () => void
}

/** A search of all organisations, those that this browser showed last before one is typed, and the operator's page of the current one. */
export function AllOrganisations({ organisationId, onChosen }: Props) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const [wanted] = useDebouncedValue(text.trim(), searchPauseMs)
  const recent = useRecent()
  const { data } = useQuery({
    queryKey: ['operator', 'switcher', wanted],
    queryFn: ({ signal }) =>
      getJson<ConsoleOrganisationsBody>(
        `/api/console/organisations?${new URLSearchParams({ ...(wanted && { search: wanted }), sort: 'name', direction: 'asc', limit: String(shownOrganisations) })}`,
        { signal },
      ),
    placeholderData: keepPreviousData,
  })
  const list = (items: { id: string; name: string }[]) =>
    items.map(({ id, name }) => (
      <NavLink
        key={id}
        component={Link}
        to={`/organisations/${id}/spaces` as '/'}
        label={name}
        py={4}
        leftSection={
          id === organisationId ? <IconCheck size={14} aria-hidden /> : <IconBuilding size={14} aria-hidden />
        }
        onClick={onChosen}
      />
    ))
  const found = data?.items ?? []
  const shown = wanted === '' ? found.filter(({ id }) => !recent.some((one) => one.id === id)) : found
  return (
    <Stack gap={4}>
      <TextInput
        data-autofocus
        size="xs"
        aria-label={t('navigation.searchOrganisations')}
        placeholder={t('navigation.searchOrganisations')}
        leftSection={<IconSearch size={14} aria-hidden />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {wanted === '' && recent.length > 0 && <Group title={t('navigation.recent')}>{list(recent)}</Group>}
      {(wanted !== '' || shown.length > 0) && (
        <Group title={t(wanted === '' ? 'navigation.allOrganisations' : 'navigation.found')}>
          {list(shown)}
          {data?.total === 0 && (
            <Text size="sm" c="dimmed" px="sm">
              {t('navigation.noOrganisation')}
            </Text>
          )}
        </Group>
      )}
      <Divider />
      <NavLink
        component={Link}
        to={
          (organisationId === undefined
            ? '/operator/organisations'
            : `/operator/organisations/${organisationId}`) as '/'
        }
        label={t(organisationId === undefined ? 'navigation.organisations' : 'navigation.organisationSettings')}
        py={4}
        leftSection={<IconSettings size={14} aria-hidden />}
        onClick={onChosen}
      />
    </Stack>
  )
}

function Group({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div role="group" aria-label={title}>
      <Text size="xs" fw={600} c="dimmed" px="sm" pt={4}>
        {title}
      </Text>
      {children}
    </div>
  )
}

/** Those that were removed are left out. */
function useRecent(): { id: string; name: string }[] {
  const { organisations } = useSession()
  const [ids] = useState(recentOrganisations)
  const names = useQueries({ queries: ids.map((id) => organisationNameQuery(id)) })
  return ids.flatMap((id, place) => {
    const name = organisations.find((own) => own.id === id)?.name ?? names[place]?.data?.name
    return name === undefined ? [] : [{ id, name }]
  })
}
