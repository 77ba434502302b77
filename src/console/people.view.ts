import { type Accounts, describeInvitation, describeMember, describePerson } from '../tenants/accounts/index.ts'
import { maximumViewInvitations, membersViewSchema, peopleViewSchema } from '../contract/console-people.ts'
import { errorResponses } from '../contract/errors.ts'
import { idParamsSchema } from '../contract/operator.ts'
import { pageQuerySchema, peopleQuerySchema } from '../contract/people.ts'
import { describeRoutes, type Routes } from '../platform/http/index.ts'
import { administrators, noOrganisation } from '../tenants/organisations/index.ts'

const forOperators = describeRoutes({ role: 'operator' }, 'Console: people')
const forAdministrators = describeRoutes(administrators, 'Console: people')
const newest = { limit: maximumViewInvitations, offset: 0 }

export interface PeopleViewDependencies {
  accounts: Accounts
  /** From memory. */
  organisationName: (id: string) => string | undefined
}

/** The pages Members and People: people with the open invitations, in one request each. */
export function peopleViewRoutes({ accounts, organisationName }: PeopleViewDependencies): Routes {
  return (app) => {
    app.get(
      '/api/console/organisations/:id/members',
      forAdministrators('viewMembers', 'Members and open invitations of an organisation', {
        params: idParamsSchema,
        querystring: pageQuerySchema,
        response: { 200: membersViewSchema, ...errorResponses(400, 401, 403, 404) },
      }),
      async ({ params: { id }, query: page }) => {
        const name = organisationName(id)
        if (name === undefined) throw noOrganisation(id)
        const [found, invited] = await Promise.all([
          accounts.loadMemberPage(id, page),
          accounts.loadInvitationPage(id, newest),
        ])
        return {
          organisation: { id, name },
          members: { total: found.total, ...page, items: found.members.map(describeMember) },
          invitations: { total: invited.total, ...newest, items: invited.invitations.map(describeInvitation) },
        }
      },
    )
    app.get(
      '/api/console/people',
      forOperators('viewPeople', 'Accounts, invitations of operators and the state of single sign-on', {
        querystring: peopleQuerySchema,
        response: { 200: peopleViewSchema, ...errorResponses(400, 401, 403) },
      }),
      async ({ query: { search, ...page } }) => {
        const [found, invited, singleSignOn] = await Promise.all([
          accounts.loadPersonPage({ ...page, search }),
          accounts.loadInvitationPage(null, newest),
          accounts.describeSingleSignOn(),
        ])
        return {
          people: { total: found.total, ...page, items: found.people.map(describePerson) },
          invitations: { total: invited.total, ...newest, items: invited.invitations.map(describeInvitation) },
          passwordSignIn: accounts.passwordSignIn,
          singleSignOn: singleSignOn ?? null,
        }
      },
    )
  }
}
