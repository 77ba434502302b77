import { Stack, Text, UnstyledButton } from '@mantine/core'
import {
  IconActivity,
  IconBell,
  IconBook2,
  IconBuilding,
  IconChartBar,
  IconCloud,
  IconCode,
  IconCoins,
  IconHeartbeat,
  IconHistory,
  IconServer2,
  IconShieldLock,
  IconTerminal2,
  IconUsers,
  IconWorldUpload,
} from '@tabler/icons-react'
import { Link, useRouterState } from '@tanstack/react-router'
import type { TFunction } from 'i18next'
import { type ComponentType, useId } from 'react'
import { useTranslation } from 'react-i18next'
import styles from './navigation.module.css'
import { type Role, useRights } from './session.ts'

interface Entry {
  label: string
  to: string
  icon: ComponentType<{ size?: number; stroke?: number }>
  role: Role
  /** Pages below its address belong to other entries. */
  exact?: boolean
}

/**
 * The entries of the navigation. Entries above the role of the person are absent. `organisationId` undefined: no team's page is shown, and so
 * no entries of a team.
 */
export function Navigation({ organisationId }: { organisationId: string | undefined }) {
  const { t } = useTranslation()
  const { isOperator, isAdministrator } = useRights(organisationId)
  const allows = { operator: isOperator, administrator: isAdministrator, member: true }
  const visible = (entries: Entry[]) => entries.filter(({ role }) => allows[role])
  const organisation = organisationId === undefined ? undefined : `/organisations/${organisationId}`
  return (
    <Stack gap="md" component="nav" aria-label={t('navigation.label')}>
      {organisation && (
        <>
          <Section entries={visible(workEntries(organisation, t))} />
          <Section title={t('navigation.teamSettings')} entries={visible(teamEntries(organisation, t))} />
        </>
      )}
      <Section title={t('navigation.operator')} entries={visible(operatorEntries(t))} />
    </Stack>
  )
}

type Translate = TFunction<'common'>

function workEntries(organisation: string, t: Translate): Entry[] {
  return [
    { label: t('navigation.spaces'), to: `${organisation}/spaces`, icon: IconBook2, role: 'member' },
    { label: t('navigation.usage'), to: `${organisation}/usage`, icon: IconChartBar, role: 'administrator' },
  ]
}

function teamEntries(organisation: string, t: Translate): Entry[] {
  return [
    {
      label: t('navigation.developerTools'),
      to: `${organisation}/developer-tools`,
      icon: IconCode,
      role: 'administrator',
    },
    { label: t('navigation.playground'), to: `${organisation}/playground`, icon: IconTerminal2, role: 'administrator' },
    {
      label: t('navigation.publishedSpaces'),
      to: `${organisation}/published-spaces`,
      icon: IconWorldUpload,
      role: 'administrator',
    },
    { label: t('navigation.members'), to: `${organisation}/members`, icon: IconUsers, role: 'administrator' },
    { label: t('navigation.activity'), to: `${organisation}/activity`, icon: IconHistory, role: 'administrator' },
    {
      label: t('navigation.dataProtection'),
      to: `${organisation}/data-protection`,
      icon: IconShieldLock,
      role: 'administrator',
    },
  ]
}

function operatorEntries(t: Translate): Entry[] {
  return [
    { label: t('navigation.overview'), to: '/operator', icon: IconChartBar, role: 'operator', exact: true },
    { label: t('navigation.health'), to: '/operator/health', icon: IconHeartbeat, role: 'operator' },
    { label: t('navigation.alerts'), to: '/operator/alerts', icon: IconBell, role: 'operator' },
    { label: t('navigation.organisations'), to: '/operator/organisations', icon: IconBuilding, role: 'operator' },
    { label: t('navigation.providers'), to: '/operator/providers', icon: IconCloud, role: 'operator' },
    { label: t('navigation.deployments'), to: '/operator/deployments', icon: IconActivity, role: 'operator' },
    { label: t('navigation.models'), to: '/operator/models', icon: IconCoins, role: 'operator' },
    { label: t('navigation.people'), to: '/operator/people', icon: IconUsers, role: 'operator' },
    { label: t('navigation.system'), to: '/operator/system', icon: IconServer2, role: 'operator' },
    { label: t('navigation.audit'), to: '/operator/audit', icon: IconHistory, role: 'operator' },
  ]
}

function Section({ title, entries }: { title?: string; entries: Entry[] }) {
  const path = useRouterState({ select: (state) => state.location.pathname })
  const id = useId()
  if (entries.length === 0) return null
  return (
    <div role="group" aria-labelledby={title ? id : undefined}>
      {title && (
        <Text id={id} size="xs" fw={600} c="dimmed" px="sm" pb={4}>
          {title}
        </Text>
      )}
      {entries.map(({ label, to, icon: Icon, exact }) => {
        const isActive = path === to || path === `${to}/` || (!exact && path.startsWith(`${to}/`))
        return (
          <UnstyledButton
            key={to}
            component={Link}
            to={to as '/'}
            activeOptions={{ exact: exact === true }}
            aria-current={isActive ? 'page' : undefined}
            className={styles['entry']}
          >
            <Icon size={16} stroke={1.6} />
            {label}
          </UnstyledButton>
        )
      })}
    </div>
  )
}
