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
import type { TFunction } from 'i18next'
import type { ComponentType } from 'react'
import { useTranslation } from 'react-i18next'
import { type Role, useRights } from './session.ts'

export interface NavigationEntry {
  /** The shortcut of the page is G, then this key. */
  key?: string
  label: string
  to: string
  icon: ComponentType<{ size?: number; stroke?: number }>
  role: Role
  /** Pages below its address belong to other entries. */
  exact?: boolean
}

export interface NavigationSection {
  title?: string
  entries: NavigationEntry[]
}

/**
 * The sections of the navigation, without entries above the role of the person. `organisationId` undefined: no team's page is shown, and
 * so no entries of a team.
 */
export function useNavigationEntries(organisationId: string | undefined): NavigationSection[] {
  const { t } = useTranslation()
  const { isOperator, isAdministrator } = useRights(organisationId)
  const allows = { operator: isOperator, administrator: isAdministrator, member: true }
  const organisation = `/organisations/${organisationId}`
  const ofTeam = [
    { entries: workEntries(organisation, t) },
    { title: t('navigation.teamSettings'), entries: teamEntries(organisation, t) },
  ]
  return [
    ...(organisationId === undefined ? [] : ofTeam),
    { title: t('navigation.operator'), entries: operatorEntries(t) },
  ]
    .map((section) => ({ ...section, entries: section.entries.filter(({ role }) => allows[role]) }))
    .filter(({ entries }) => entries.length > 0)
}

type Translate = TFunction<'common'>

function workEntries(organisation: string, t: Translate): NavigationEntry[] {
  return [
    { label: t('navigation.spaces'), key: 's', to: `${organisation}/spaces`, icon: IconBook2, role: 'member' },
    { label: t('navigation.usage'), key: 'u', to: `${organisation}/usage`, icon: IconChartBar, role: 'administrator' },
  ]
}

function teamEntries(organisation: string, t: Translate): NavigationEntry[] {
  return [
    {
      label: t('navigation.developerTools'),
      key: 'd',
      to: `${organisation}/developer-tools`,
      icon: IconCode,
      role: 'administrator',
    },
    {
      label: t('navigation.playground'),
      key: 'p',
      to: `${organisation}/playground`,
      icon: IconTerminal2,
      role: 'administrator',
    },
    {
      label: t('navigation.publishedSpaces'),
      key: 'b',
      to: `${organisation}/published-spaces`,
      icon: IconWorldUpload,
      role: 'administrator',
    },
    { label: t('navigation.members'), key: 'm', to: `${organisation}/members`, icon: IconUsers, role: 'administrator' },
    {
      label: t('navigation.activity'),
      key: 'a',
      to: `${organisation}/activity`,
      icon: IconHistory,
      role: 'administrator',
    },
    {
      label: t('navigation.dataProtection'),
      to: `${organisation}/data-protection`,
      icon: IconShieldLock,
      role: 'administrator',
    },
  ]
}

function operatorEntries(t: Translate): NavigationEntry[] {
  return [
    { label: t('navigation.overview'), key: 'o', to: '/operator', icon: IconChartBar, role: 'operator', exact: true },
    { label: t('navigation.health'), key: 'h', to: '/operator/health', icon: IconHeartbeat, role: 'operator' },
    { label: t('navigation.alerts'), key: 'l', to: '/operator/alerts', icon: IconBell, role: 'operator' },
    {
      label: t('navigation.organisations'),
      key: 't',
      to: '/operator/organisations',
      icon: IconBuilding,
      role: 'operator',
    },
    { label: t('navigation.providers'), key: 'r', to: '/operator/providers', icon: IconCloud, role: 'operator' },
    { label: t('navigation.deployments'), to: '/operator/deployments', icon: IconActivity, role: 'operator' },
    { label: t('navigation.models'), to: '/operator/models', icon: IconCoins, role: 'operator' },
    { label: t('navigation.people'), key: 'e', to: '/operator/people', icon: IconUsers, role: 'operator' },
    { label: t('navigation.system'), key: 'y', to: '/operator/system', icon: IconServer2, role: 'operator' },
    { label: t('navigation.audit'), to: '/operator/audit', icon: IconHistory, role: 'operator' },
  ]
}
