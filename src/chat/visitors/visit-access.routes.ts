import type { FastifyRequest } from 'fastify'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { OpenSite } from './sites.ts'
import { noSite, type VisitSession, type VisitSessions } from './visit-sessions.ts'
import { assertMember, type VisitRoutesDependencies } from './visits.routes.ts'

type VisitRequest = Pick<FastifyRequest, 'params' | 'headers'>

export type OpenVisitAccess = ReturnType<typeof createVisitAccess>

/** Who may call the routes of a visit. */
export function createVisitAccess({
  sessions,
  findOrganisation,
  findPerson,
}: Pick<VisitRoutesDependencies, 'findPerson'> & {
  sessions: Pick<VisitSessions, 'authenticate'>
  findOrganisation: (id: string) => Organisation | undefined
}) {
  const authenticate = ({ params, headers }: VisitRequest) =>
    sessions.authenticate((params as { name: string }).name, headers.authorization)
  return {
    /** Of the routes. Reads memory only. */
    auth: {
      visit(request: FastifyRequest): Organisation {
        const organisation = findOrganisation(authenticate(request).site.organisationId)
        if (!organisation) throw noSite()
        return organisation
      },
    },
    /** The visit of a request whose body has arrived: the site may have changed meanwhile, and a member may have left. */
    async enter(request: VisitRequest): Promise<{ session: VisitSession } & OpenSite> {
      const visit = authenticate(request)
      if (visit.site.settings.access === 'members') await assertMember({ findPerson }, request.headers, visit.site)
      return visit
    },
  }
}
