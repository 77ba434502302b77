import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import type { MembersView, PeopleView } from '@contract/console-people.ts'
import type { OpenInvitationBody, PasswordResetBody, SessionsBody, SetupState } from '@contract/people.ts'
import { getJson } from '../../api/client.ts'
import { operatorRoute, organisationRoute, publicRoute, shellRoute } from '../../app/layout-routes.tsx'
import { signInAddress } from '../../app/sign-in-address.ts'
import { withTexts } from '../../i18n/translations.ts'

/** People on one page of a list. */
export const pageSize = 50

/** How people can sign in here, and whether the first account is still to be made. */
export const setupQuery = queryOptions({
  queryKey: ['setup'],
  queryFn: ({ signal }) => getJson<SetupState>('/api/setup', { signal }),
})

export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => getJson<OpenInvitationBody>(`/api/invitations/${encodeURIComponent(token)}`, { signal }),
  })

export const passwordResetQuery = (token: string) =>
  queryOptions({
    queryKey: ['password-reset', token],
    queryFn: ({ signal }) =>
      getJson<PasswordResetBody>(`/api/password-resets/${encodeURIComponent(token)}`, { signal }),
  })

export const sessionsQuery = queryOptions({
  queryKey: ['my-sessions'],
  queryFn: ({ signal }) => getJson<SessionsBody>('/api/me/sessions', { signal }),
})

export const membersQuery = (organisationId: string, offset: number) =>
  queryOptions({
    queryKey: ['members', organisationId, offset],
    queryFn: ({ signal }) => {
      const page = new URLSearchParams({ limit: String(pageSize), offset: String(offset) })
      return getJson<MembersView>(`/api/console/organisations/${organisationId}/members?${page}`, { signal })
    },
    placeholderData: keepPreviousData,
  })

export const peopleQuery = (offset: number, search: string) =>
  queryOptions({
    queryKey: ['people', offset, search],
    queryFn: ({ signal }) => {
      const page = new URLSearchParams({ limit: String(pageSize), offset: String(offset), ...(search && { search }) })
      return getJson<PeopleView>(`/api/console/people?${page}`, { signal })
    },
    placeholderData: keepPreviousData,
  })

export const publicAccountRoutes = [
  createRoute({
    getParentRoute: () => publicRoute,
    path: 'setup',
    async loader({ context }) {
      const { required } = await context.queryClient.ensureQueryData(setupQuery)
      if (!required) throw redirect({ href: signInAddress(), reloadDocument: true })
    },
    component: lazyRouteComponent(() => withTexts('accounts', import('./setup-page.tsx')), 'SetupPage'),
  }),
  createRoute({
    getParentRoute: () => publicRoute,
    path: 'invitations/$token',
    loader: ({ context, params }) => context.queryClient.ensureQueryData(invitationQuery(params.token)),
    component: lazyRouteComponent(() => withTexts('accounts', import('./invitation-page.tsx')), 'InvitationPage'),
    errorComponent: lazyRouteComponent(() => withTexts('accounts', import('./gone-link.tsx')), 'InvitationError'),
  }),
  createRoute({
    getParentRoute: () => publicRoute,
    path: 'password-resets/$token',
    loader: ({ context, params }) => context.queryClient.ensureQueryData(passwordResetQuery(params.token)),
    component: lazyRouteComponent(
      () => withTexts('accounts', import('./password-reset-page.tsx')),
      'PasswordResetPage',
    ),
    errorComponent: lazyRouteComponent(() => withTexts('accounts', import('./gone-link.tsx')), 'PasswordResetError'),
  }),
] as const

export const accountShellRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: 'account',
    loader: ({ context }) => context.queryClient.ensureQueryData(sessionsQuery),
    component: lazyRouteComponent(() => withTexts('accounts', import('./account-page.tsx')), 'AccountPage'),
  }),
] as const

export const memberRoutes = [
  createRoute({
    getParentRoute: () => organisationRoute,
    path: 'members',
    loader: ({ context, params }) => context.queryClient.ensureQueryData(membersQuery(params.organisationId, 0)),
    component: lazyRouteComponent(() => withTexts('accounts', import('./members-page.tsx')), 'MembersPage'),
  }),
] as const

export const operatorPeopleRoutes = [
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'people',
    loader: ({ context }) => context.queryClient.ensureQueryData(peopleQuery(0, '')),
    component: lazyRouteComponent(() => withTexts('accounts', import('./people-page.tsx')), 'PeoplePage'),
  }),
] as const
