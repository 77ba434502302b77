import { Button, Menu, Text } from '@mantine/core'
import { IconBuilding, IconCheck, IconSelector } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { getJson } from '../api/client.ts'
import { useSession } from './session.ts'
import { ButtonLink } from '../ui/link.tsx'

/** Chooses among the organisations of the person. An operator may visit others, which have a link to their page for operators. */
export function OrganisationSwitcher({ organisationId }: { organisationId: string | undefined }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { organisations, isOperator } = useSession()
  const current = organisations.find(({ id }) => id === organisationId)
  if (!current && isOperator && organisationId) return <VisitedOrganisation organisationId={organisationId} />
  if (organisations.length === 0) return null
  const name = current?.name ?? ''
  return (
    <Menu width="target" position="bottom-start">
      <Menu.Target>
        <Button
          fullWidth
          variant="default"
          justify="space-between"
          rightSection={<IconSelector size={16} aria-hidden />}
          aria-label={t('navigation.switchOrganisation', { name })}
        >
          <OrganisationName name={name} />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {organisations.map(({ id, name: label }) => (
          <Menu.Item
            key={id}
            leftSection={id === organisationId ? <IconCheck size={14} aria-hidden /> : undefined}
            onClick={() =>
              void navigate({ to: '/organisations/$organisationId/spaces', params: { organisationId: id } })
            }
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** The name of an organisation to which the operator does not belong; loaded once for each. */
function VisitedOrganisation({ organisationId }: { organisationId: string }) {
  const { t } = useTranslation()
  const { data } = useQuery({
    queryKey: ['visited-organisation', organisationId],
    queryFn: ({ signal }) => getJson<{ name: string }>(`/api/organisations/${organisationId}`, { signal }),
    staleTime: 300_000,
  })
  const name = data?.name ?? ''
  return (
    <ButtonLink
      to="/operator/organisations/$organisationId"
      params={{ organisationId }}
      fullWidth
      variant="default"
      justify="flex-start"
      leftSection={<IconBuilding size={16} aria-hidden />}
      aria-label={t('navigation.visitedOrganisation', { name })}
    >
      <OrganisationName name={name} />
    </ButtonLink>
  )
}

function OrganisationName({ name }: { name: string }) {
  return (
    <Text size="sm" truncate>
      {name}
    </Text>
  )
}
