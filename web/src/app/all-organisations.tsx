import { Divider, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ConsoleOrganisationsBody } from '@contract/console-organisations.ts'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { jsonQuery, withQuery } from '../api/queries.ts'
import { Dimmed } from '../ui/dimmed.tsx'
import { AnchorLink } from '../ui/link.tsx'
import { recentOrganisations } from './remembered-organisation.ts'
import { organisationNameQuery, useSession } from './session.ts'

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
  const [recent] = useState(recentOrganisations)
  const { data } = useQuery({
    ...jsonQuery<ConsoleOrganisationsBody>(
      ['operator', 'switcher', wanted],
      withQuery('/api/console/organisations', {
        search: wanted,
        sort: 'name',
        direction: 'asc',
        limit: shownOrganisations,
      }),
    ),
    placeholderData: keepPreviousData,
  })
  const link = (id: string, name: string) => (
    <OrganisationLink key={id} id={id} name={name} isCurrent={id === organisationId} onChosen={onChosen} />
  )
  const found = data?.items ?? []
  const shown = wanted === '' ? found.filter(({ id }) => !recent.includes(id)) : found
  return (
    <Stack gap={4}>
      <TextInput
        data-autofocus
        size="xs"
        aria-label={t('navigation.searchOrganisations')}
        placeholder={t('navigation.searchOrganisations')}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {wanted === '' && recent.length > 0 && (
        <Group title={t('navigation.recent')}>
          {recent.map((id) => (
            <RecentOrganisation key={id} id={id} isCurrent={id === organisationId} onChosen={onChosen} />
          ))}
        </Group>
      )}
      {(wanted !== '' || shown.length > 0) && (
        <Group title={t(wanted === '' ? 'navigation.allOrganisations' : 'navigation.found')}>
          {shown.map(({ id, name }) => link(id, name))}
          {data?.total === 0 && <Dimmed px="sm">{t('navigation.noOrganisation')}</Dimmed>}
        </Group>
      )}
      <Divider />
      <AnchorLink
        to={
          (organisationId === undefined
            ? '/operator/organisations'
            : `/operator/organisations/${organisationId}`) as '/'
        }
        size="sm"
        display="block"
        px="sm"
        py={4}
        onClick={onChosen}
      >
        {t(organisationId === undefined ? 'navigation.organisations' : 'navigation.organisationSettings')}
      </AnchorLink>
    </Stack>
  )
}

function Group({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div role="group" aria-label={title}>
      <Dimmed size="xs" fw={600} px="sm" pt={4}>
        {title}
      </Dimmed>
      {children}
    </div>
  )
}

interface LinkProps {
  id: string
  isCurrent: boolean
  onChosen: () => void
}

function OrganisationLink({ id, name, isCurrent, onChosen }: LinkProps & { name: string }) {
  return (
    <AnchorLink
      to={`/organisations/${id}/spaces` as '/'}
      size="sm"
      display="block"
      px="sm"
      py={4}
      fw={isCurrent ? 600 : undefined}
      truncate
      onClick={onChosen}
    >
      {name}
    </AnchorLink>
  )
}

/** Nothing for one that was removed. */
function RecentOrganisation(props: LinkProps) {
  const { organisations } = useSession()
  const own = organisations.find(({ id }) => id === props.id)?.name
  const { data } = useQuery({ ...organisationNameQuery(props.id), enabled: own === undefined })
  const name = own ?? data?.name
  return name === undefined ? null : <OrganisationLink {...props} name={name} />
}
