import { keepPreviousData } from '@tanstack/react-query'
import { createRoute, redirect } from '@tanstack/react-router'
import type { MembersView, PeopleView } from '@contract/console-people.ts'
import type { OpenInvitationBody, PasswordResetBody, SessionsBody, SetupState } from '@contract/people.ts'
import { jsonQuery, withQuery } from '../../api/queries.ts'
import { operatorRoute, organisationRoute, publicRoute, shellRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'
import { signInAddress } from '../../app/sign-in-address.ts'

/** People on one page of a list. */
export const pageSize = 50

/** How people can sign in here, and whether the first account is still to be made. */
export const setupQuery = jsonQuery<SetupState>(['setup'], '/api/setup')

export const invitationQuery = (token: string) =>
  jsonQuery<OpenInvitationBody>(['invitation', token], `/api/invitations/${encodeURIComponent(token)}`)

export const passwordResetQuery = (token: string) =>
  jsonQuery<PasswordResetBody>(['password-reset', token], `/api/password-resets/${encodeURIComponent(token)}`)

export const sessionsQuery = jsonQuery<SessionsBody>(['my-sessions'], '/api/me/sessions')

export const membersQuery = (organisationId: string, offset: number) =>
  jsonQuery<MembersView>(
    ['members', organisationId, offset],
    withQuery(`/api/console/organisations/${organisationId}/members`, { limit: pageSize, offset }),
    { placeholderData: keepPreviousData },
  )

export const peopleQuery = (offset: number, search: string) =>
  jsonQuery<PeopleView>(
    ['people', offset, search],
    withQuery('/api/console/people', { limit: pageSize, offset, search }),
    { placeholderData: keepPreviousData },
  )

export const publicAccountRoutes = [
  createRoute({
    getParentRoute: () => publicRoute,
    path: 'setup',
    async loader({ context }) {
      const { required } = await context.queryClient.ensureQueryData(setupQuery)
      if (!required) throw redirect({ href: signInAddress(), reloadDocument: true })
    },
    component: lazyPage('accounts', () => import('./setup-page.tsx'), 'SetupPage'),
  }),
  createRoute({
    getParentRoute: () => publicRoute,
    path: 'invitations/$token',
    loader: ({ context, params }) => context.queryClient.ensureQueryData(invitationQuery(params.token)),
    component: lazyPage('accounts', () => import('./invitation-page.tsx'), 'InvitationPage'),
    errorComponent: lazyPage('accounts', () => import('./gone-link.tsx'), 'InvitationError'),
  }),
  createRoute({
    getParentRoute: () => publicRoute,
    path: 'password-resets/$token',
    loader: ({ context, params }) => context.queryClient.ensureQueryData(passwordResetQuery(params.token)),
    component: lazyPage('accounts', () => import('./password-reset-page.tsx'), 'PasswordResetPage'),
    errorComponent: lazyPage('accounts', () => import('./gone-link.tsx'), 'PasswordResetError'),
  }),
] as const

export const accountShellRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: 'account',
    loader: ({ context }) => context.queryClient.ensureQueryData(sessionsQuery),
    component: lazyPage('accounts', () => import('./account-page.tsx'), 'AccountPage'),
  }),
] as const

export const memberRoutes = [
  createRoute({
    getParentRoute: () => organisationRoute,
    path: 'members',
    loader: ({ context, params }) => context.queryClient.ensureQueryData(membersQuery(params.organisationId, 0)),
    component: lazyPage('accounts', () => import('./members-page.tsx'), 'MembersPage'),
  }),
] as const

export const operatorPeopleRoutes = [
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'people',
    loader: ({ context }) => context.queryClient.ensureQueryData(peopleQuery(0, '')),
    component: lazyPage('accounts', () => import('./people-page.tsx'), 'PeoplePage'),
  }),
] as const
