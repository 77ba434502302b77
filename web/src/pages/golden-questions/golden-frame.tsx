import { Link, useRouterState } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useRights } from '../../app/session.ts'
import { Page } from '../../ui/page.tsx'
import { ViewLinks } from '../../ui/view-links.tsx'
import { spaceRoute } from '../spaces/space-route.tsx'

const parts = [
  { name: 'questions', path: '', forAdministrators: false },
  { name: 'candidates', path: '/candidates', forAdministrators: true },
  { name: 'runs', path: '/runs', forAdministrators: false },
  { name: 'settings', path: '/settings', forAdministrators: false },
] as const

/** The title of golden questions and the links between their pages. */
export function GoldenFrame({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  const { t } = useTranslation('golden-questions')
  const { organisationId, spaceId } = spaceRoute.useParams()
  const { isAdministrator } = useRights(organisationId)
  const current = useRouterState({ select: ({ location }) => location.pathname.split('/golden-questions')[1] ?? '' })
  const base = `/organisations/${organisationId}/spaces/${spaceId}/golden-questions`
  return (
    <Page title={t('title')} description={t('description')} actions={actions}>
      <ViewLinks label={t('parts')}>
        {parts
          .filter(({ forAdministrators }) => isAdministrator || !forAdministrators)
          .map(({ name, path }) => (
            <Link
              key={name}
              to={`${base}${path}` as '/'}
              // The link of the questions would be active on every page below it.
              activeOptions={{ exact: true }}
              aria-current={isPart(path, current) ? 'page' : undefined}
            >
              {t(`part.${name}`)}
            </Link>
          ))}
      </ViewLinks>
      {children}
    </Page>
  )
}

const isPart = (path: string, current: string) =>
  path === '' ? current === '' || current === '/' : current.startsWith(path)
