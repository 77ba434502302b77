import { Box, Group, Stack, Text } from '@mantine/core'
import {
  IconFiles,
  IconListCheck,
  IconMessage,
  IconMessages,
  IconSearch,
  IconSettings,
  IconServer2,
} from '@tabler/icons-react'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useRights } from '../../app/session.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import styles from './space-layout.module.css'
import { useSpace } from './queries.ts'
import { spaceRoute } from './space-route.tsx'
import { AnchorLink } from '../../ui/link.tsx'

const tabs = [
  { name: 'files', icon: IconFiles },
  { name: 'chat', icon: IconMessage },
  { name: 'search', icon: IconSearch },
  { name: 'golden-questions', icon: IconListCheck },
  { name: 'conversations', icon: IconMessages, isForAdministrators: true },
  { name: 'tools', icon: IconServer2, isForAdministrators: true },
  { name: 'settings', icon: IconSettings },
] as const

/** The name of the Space and the links between its pages, above each of them. */
export function SpaceLayout() {
  const { t } = useTranslation('spaces')
  const { organisationId, spaceId } = spaceRoute.useParams()
  const { name } = useSpace(spaceId)
  const { isAdministrator } = useRights(organisationId)
  const isShown = (tab: (typeof tabs)[number]) => isAdministrator || !('isForAdministrators' in tab)
  const path = useRouterState({ select: (state) => state.location.pathname })
  const base = `/organisations/${organisationId}/spaces/${spaceId}`
  const active = useRef<HTMLAnchorElement>(null)
  // On a phone not all links fit. Not scrollIntoView, which may scroll the page too.
  useEffect(() => {
    const link = active.current
    const bar = link?.parentElement
    if (bar) bar.scrollLeft = link.offsetLeft - bar.offsetLeft - (bar.clientWidth - link.clientWidth) / 2
  }, [path])
  return (
    <Stack gap="lg" maw={1600} mx="auto">
      <Box>
        <Group gap={6} wrap="nowrap" component="nav" aria-label={t('layout.breadcrumb')} mb={6}>
          <AnchorLink to="/organisations/$organisationId/spaces" params={{ organisationId }} size="sm" c="dimmed">
            {t('title')}
          </AnchorLink>
          <Dimmed aria-hidden>/</Dimmed>
          <Text size="sm" fw={600} truncate>
            {name}
          </Text>
        </Group>
        <nav aria-label={t('layout.tabs')} className={styles['tabs']}>
          {tabs.filter(isShown).map(({ name: tab, icon: Icon }) => {
            const isActive = path.startsWith(`${base}/${tab}`)
            return (
              <Link
                key={tab}
                ref={isActive ? active : undefined}
                to={`${base}/${tab}` as '/'}
                className={styles['tab']}
                aria-current={isActive ? 'page' : undefined}
              >
                <Icon size={16} stroke={1.6} aria-hidden />
                {t(`layout.${tab}`)}
              </Link>
            )
          })}
        </nav>
      </Box>
      {/* A block, so that the page takes the whole width. */}
      <div>
        <Outlet />
      </div>
    </Stack>
  )
}
