import { Anchor, AppShell, Burger, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Outlet, useParams, useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Logo } from '../ui/logo.tsx'
import { AccountMenu } from './account-menu.tsx'
import { Navigation } from './navigation.tsx'
import { OrganisationSwitcher } from './organisation-switcher.tsx'
import { rememberedOrganisation, rememberOrganisation } from './remembered-organisation.ts'
import { useSession } from './session.ts'
import { Shortcuts } from './shortcuts.tsx'

/** app.css has the transition. This is the value of Mantine's rule in the build: the variable does not change then. */
const noTransition = () => ({ root: { '--app-shell-transition-duration': '0s' } })

/** The frame of every page for signed-in people: navigation on the left, the page on the right. */
export function Shell() {
  const { t } = useTranslation()
  const [isOpen, navigation] = useDisclosure(false)
  const organisationId = useCurrentOrganisation()
  const path = useRouterState({ select: (state) => state.location.pathname })
  useEffect(navigation.close, [path])
  return (
    <AppShell
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'md', lg: 'xl' }}
      vars={noTransition}
    >
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="md" justify="space-between">
          <Logo />
          <Burger opened={isOpen} onClick={navigation.toggle} size="sm" aria-label={t('navigation.open')} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar bg="var(--portico-sidebar)" aria-label={t('navigation.label')}>
        <Anchor href="#content" className="skip-link">
          {t('navigation.skip')}
        </Anchor>
        <AppShell.Section p="md" visibleFrom="sm">
          <Logo />
        </AppShell.Section>
        <AppShell.Section px="sm" pt={{ base: 'sm', sm: 0 }}>
          <OrganisationSwitcher organisationId={organisationId} />
          <Shortcuts organisationId={organisationId} />
        </AppShell.Section>
        <AppShell.Section grow px="sm" py="xs" style={{ overflowY: 'auto', scrollbarWidth: 'thin' }}>
          <Navigation organisationId={organisationId} />
        </AppShell.Section>
        <AppShell.Section p="sm">
          <AccountMenu />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  )
}

/** The organisation in the address, else the one shown last; undefined on the pages of operators. */
function useCurrentOrganisation(): string | undefined {
  const { organisations } = useSession()
  const { organisationId } = useParams({ strict: false }) as { organisationId?: string }
  const isOperatorPage = useRouterState({ select: (state) => /^\/operator(?:\/|$)/.test(state.location.pathname) })
  const inAddress = isOperatorPage ? undefined : organisationId
  useEffect(() => {
    if (inAddress) rememberOrganisation(inAddress)
  }, [inAddress])
  if (isOperatorPage) return undefined
  const remembered = rememberedOrganisation()
  return inAddress ?? organisations.find(({ id }) => id === remembered)?.id ?? organisations[0]?.id
}
