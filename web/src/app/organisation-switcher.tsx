import { Button, Menu, Popover, Text } from '@mantine/core'
import { IconCheck, IconSelector } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ComponentPropsWithRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { lazyPart, OnceOpened } from '../ui/lazy-part.tsx'
import { organisationNameQuery, useSession } from './session.ts'

const AllOrganisations = lazyPart(() => import('./all-organisations.tsx'), 'AllOrganisations')

/** Chooses among the organisations of the person; for an operator, among all. `organisationId` undefined: no team's page is shown. */
export function OrganisationSwitcher({ organisationId }: { organisationId: string | undefined }) {
  const { organisations, isOperator } = useSession()
  if (isOperator) return <OperatorSwitcher organisationId={organisationId} />
  if (organisations.length === 0) return null
  return <MemberSwitcher organisationId={organisationId} />
}

function MemberSwitcher({ organisationId }: { organisationId: string | undefined }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { organisations } = useSession()
  const name = organisations.find(({ id }) => id === organisationId)?.name ?? ''
  return (
    <Menu width="target" position="bottom-start">
      <Menu.Target>
        <SwitchButton name={name} aria-label={t('navigation.switchOrganisation', { name })} />
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

/** An operator may visit every organisation: a search of all of them, which loads when it is opened. */
function OperatorSwitcher({ organisationId }: { organisationId: string | undefined }) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const { organisations } = useSession()
  const own = organisations.find(({ id }) => id === organisationId)
  const { data } = useQuery({
    ...organisationNameQuery(organisationId ?? ''),
    enabled: organisationId !== undefined && !own,
  })
  const name = own?.name ?? data?.name ?? ''
  const label = organisationId === undefined ? t('navigation.chooseOrganisation') : name
  return (
    <Popover opened={isOpen} onChange={setOpen} width="target" position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <SwitchButton
          name={label}
          onClick={() => setOpen(!isOpen)}
          aria-label={organisationId === undefined ? label : t('navigation.switchOrganisation', { name })}
        />
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label={t('navigation.allOrganisations')}>
        <OnceOpened opened={isOpen}>
          <AllOrganisations organisationId={organisationId} onChosen={() => setOpen(false)} />
        </OnceOpened>
      </Popover.Dropdown>
    </Popover>
  )
}

function SwitchButton({ name, ...others }: { name: string } & ComponentPropsWithRef<'button'>) {
  return (
    <Button
      {...others}
      fullWidth
      variant="default"
      justify="space-between"
      rightSection={<IconSelector size={16} aria-hidden />}
    >
      <Text size="sm" truncate>
        {name}
      </Text>
    </Button>
  )
}
