import { Stack } from '@mantine/core'
import { Link, useRouterState } from '@tanstack/react-router'
import { useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Dimmed } from '../ui/dimmed.tsx'
import { plainButton } from '../ui/plain-classes.ts'
import { type NavigationSection, useNavigationEntries } from './navigation-entries.ts'
import styles from './navigation.module.css'

/** The navigation of the pages that the person may open. */
export function Navigation({ organisationId }: { organisationId: string | undefined }) {
  const { t } = useTranslation()
  return (
    <Stack gap="md" component="nav" aria-label={t('navigation.label')}>
      {useNavigationEntries(organisationId).map((section) => (
        <Section key={section.title ?? ''} {...section} />
      ))}
    </Stack>
  )
}

function Section({ title, entries }: NavigationSection) {
  const path = useRouterState({ select: (state) => state.location.pathname })
  const id = useId()
  return (
    <div role="group" aria-labelledby={title ? id : undefined}>
      {title && (
        <Dimmed id={id} size="xs" fw={600} px="sm" pb={4}>
          {title}
        </Dimmed>
      )}
      {entries.map(({ label, to, icon: Icon, exact }) => {
        const isActive = path === to || path === `${to}/` || (!exact && path.startsWith(`${to}/`))
        return (
          <Link
            key={to}
            to={to as '/'}
            activeOptions={{ exact: exact === true }}
            aria-current={isActive ? 'page' : undefined}
            className={`${plainButton} ${styles['entry']}`}
          >
            <Icon size={16} stroke={1.6} />
            {label}
          </Link>
        )
      })}
    </div>
  )
}
