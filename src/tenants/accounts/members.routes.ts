import { errorResponses } from '../../contract/errors.ts'
import { emptySchema, idParamsSchema } from '../../contract/operator.ts'
import {
  acceptInvitationSchema,
  createInvitationSchema,
  createOperatorInvitationSchema,
  invitationPageSchema,
  invitationParamsSchema,
  invitationTokenParamsSchema,
  memberPageSchema,
  memberParamsSchema,
  meSchema,
  newInvitationSchema,
  openInvitationSchema,
  pageQuerySchema,
  updateMemberSchema,
} from '../../contract/people.ts'
import { ifMatchHeadersSchema } from '../../contract/settings-version.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import { isUuid } from '../../platform/kernel/index.ts'
import { type Actor, actorOf } from '../operators/index.ts'
import { administrators, noOrganisation } from '../organisations/index.ts'
import type { Accounts } from './accounts.ts'
import { describeInvitation, describeMember, type Invitation } from './person.ts'

const forOperators = describeRoutes({ role: 'operator' }, 'People')
const forAdministrators = describeRoutes(administrators, 'People')
const forAnyone = describeRoutes('none', 'People')
const forVisitors = describeRoutes({ role: 'visitor' }, 'People')

export interface MemberRoutesDependencies {
  accounts: Accounts
  hasOrganisation: (id: string) => boolean
}

/** Members and invitations of an organisation, invitations of operators, and the acceptance of an invitation. */
export function memberRoutes({ accounts, hasOrganisation }: MemberRoutesDependencies): Routes {
  const organisationOf = (id: string) => {
    if (isUuid(id) && hasOrganisation(id)) return id
    throw noOrganisation(id)
  }
  return (app) => {
    addMembers(app, accounts, organisationOf)
    addInvitations(app, accounts, organisationOf)
    addOperatorInvitations(app, accounts)
    addAcceptance(app, accounts)
  }
}

type OrganisationOf = (id: string) => string

function addMembers(app: App, accounts: Accounts, organisationOf: OrganisationOf) {
  app.get(
    '/api/organisations/:id/members',
    forAdministrators('listMembers', 'List the members of an organisation', {
      description: 'By email.',
      params: idParamsSchema,
      querystring: pageQuerySchema,
      response: { 200: memberPageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    async ({ params, query: { limit, offset } }) => {
      const { total, members } = await accounts.loadMemberPage(organisationOf(params.id), { limit, offset })
      const items = members.map(describeMember)
      return { total, limit, offset, items }
    },
  )
  app.patch(
    '/api/organisations/:id/members/:personId',
    forAdministrators('updateMember', 'Change the role of a member', {
      params: memberParamsSchema,
      headers: ifMatchHeadersSchema,
      body: updateMemberSchema,
      response: { 204: emptySchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => {
      const { id, personId } = request.params
      const key = { organisationId: organisationOf(id), personId }
      return accounts.changeMember(key, request.body.role, actorOf(request), request.headers['if-match'])
    },
  )
  app.delete(
    '/api/organisations/:id/members/:personId',
    forAdministrators('removeMember', 'Remove a member', {
      description: 'The account stays. In effect for the next request of the person.',
      params: memberParamsSchema,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => {
      const { id, personId } = request.params
      return accounts.changeMember({ organisationId: organisationOf(id), personId }, null, actorOf(request))
    },
  )
}

function addInvitations(app: App, accounts: Accounts, organisationOf: OrganisationOf) {
  app.get(
    '/api/organisations/:id/invitations',
    forAdministrators('listInvitations', 'List the open invitations of an organisation', {
      params: idParamsSchema,
      querystring: pageQuerySchema,
      response: { 200: invitationPageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    ({ params, query }) => loadPage(accounts, organisationOf(params.id), query),
  )
  app.post(
    '/api/organisations/:id/invitations',
    forAdministrators('createInvitation', 'Invite a person to an organisation', {
      description: 'The link is shown only in this response. It can be used once, within seven days.',
      params: idParamsSchema,
      body: createInvitationSchema,
      response: { 201: newInvitationSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => {
      const organisationId = organisationOf(request.params.id)
      return invite(accounts, { ...request.body, organisationId }, actorOf(request))
    },
  )
  app.delete(
    '/api/organisations/:id/invitations/:invitationId',
    forAdministrators('removeInvitation', 'Withdraw an invitation', {
      params: invitationParamsSchema,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => {
      const { id, invitationId } = request.params
      return accounts.removeInvitation(organisationOf(id), invitationId, actorOf(request))
    },
  )
}

function addOperatorInvitations(app: App, accounts: Accounts) {
  app.get(
    '/api/operator-invitations',
    forOperators('listOperatorInvitations', 'List the open invitations of operators', {
      querystring: pageQuerySchema,
      response: { 200: invitationPageSchema, ...errorResponses(400, 401, 403) },
    }),
    ({ query }) => loadPage(accounts, null, query),
  )
  app.post(
    '/api/operator-invitations',
    forOperators('createOperatorInvitation', 'Invite a person to become an operator', {
      description: 'The link is shown only in this response. It can be used once, within seven days.',
      body: createOperatorInvitationSchema,
      response: { 201: newInvitationSchema, ...errorResponses(400, 401, 403) },
    }),
    (request) => invite(accounts, { ...request.body, role: 'operator', organisationId: null }, actorOf(request)),
  )
  app.delete(
    '/api/operator-invitations/:id',
    forOperators('removeOperatorInvitation', 'Withdraw an invitation of an operator', {
      params: idParamsSchema,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => accounts.removeInvitation(null, request.params.id, actorOf(request)),
  )
}

function addAcceptance(app: App, accounts: Accounts) {
  app.get(
    '/api/invitations/:token',
    forAnyone('getInvitation', 'Read an invitation', {
      params: invitationTokenParamsSchema,
      response: { 200: openInvitationSchema, ...errorResponses(404, 429) },
    }),
    async ({ params, ip }) => {
      const { email, role, organisationName, expiresAt } = await accounts.findInvitation(params.token, ip)
      return { email, role, organisationName, expiresAt: expiresAt.toISOString(), ...(await accounts.signInMethods()) }
    },
  )
  app.post(
    '/api/invitations/:token/accept',
    forVisitors('acceptInvitation', 'Accept an invitation', {
      description:
        'Creates the account, or adds the membership to the signed-in person. The link can be used once. A person without a verified e-mail becomes an operator only when an operator confirms it.',
      params: invitationTokenParamsSchema,
      body: acceptInvitationSchema,
      response: { 200: meSchema.pick({ organisations: true }), ...errorResponses(400, 401, 403, 404, 409, 429) },
    }),
    async ({ params, body, person, requestId, ip: clientAddress }) => {
      const by = { person, account: body, requestId, clientAddress }
      const personId = await accounts.acceptInvitation(params.token, by)
      return { organisations: await accounts.loadMemberships(personId) }
    },
  )
}

async function loadPage(accounts: Accounts, organisationId: string | null, page: { limit: number; offset: number }) {
  const { limit, offset } = page
  const { total, invitations } = await accounts.loadInvitationPage(organisationId, { limit, offset })
  return { total, limit, offset, items: invitations.map(describeInvitation) }
}

async function invite(accounts: Accounts, given: Pick<Invitation, 'email' | 'role' | 'organisationId'>, actor: Actor) {
  const { invitation, token } = await accounts.invite(given, actor)
  return { ...describeInvitation(invitation), token, url: accounts.linkTo(`/console/invitations/${token}`) }
}
