import type { FastifyRequest } from 'fastify'
import { AppError } from '../kernel/index.ts'
import { type Authenticators, authenticateOperator } from './authentication.ts'
import type { Caller, Person } from './caller.ts'
import type { OrganisationAuthentication, RoleAuthentication, RouteAuthentication } from './route-access.ts'
import type { Visit } from './visit.ts'

const safeMethods = new Set(['GET', 'HEAD'])

/**
 * Finds the operator token or the person of a request to a route with a role, and the organisation for which they act. Throws 401 without a
 * valid credential, and 403 if only operators may call the route and the person is none, or if another site sent the request.
 */
export async function identifyPerson(visit: Visit, auth: RoleAuthentication, site: Site): Promise<void> {
  await authenticateRole(visit, auth, site)
  visit.checkAccess = async () => {
    await authenticateRole(visit, auth, site)
    await assertRoleInOrganisation(visit)
  }
  if (isActing(auth)) visit.organisation = await findActingOrganisation(visit, auth, site.authenticators)
}

interface Site {
  authenticators: Authenticators
  publicUrl: string | undefined
}

async function authenticateRole(visit: Visit, auth: RoleAuthentication, { authenticators, publicUrl }: Site) {
  const request = visit.request!
  if (authenticateOperator(request, authenticators)) return
  if (request.headers.cookie !== undefined) {
    visit.person = await authenticators.people.authenticate(new Headers({ cookie: request.headers.cookie }))
    if (visit.person) assertSameSite(request, publicUrl)
  }
  if (auth.role === 'visitor') return refuseOtherPages(request, publicUrl)
  if (!visit.person)
    throw new AppError('not_signed_in', 'Sign in, or send the operator token as `Authorization: Bearer <token>`.')
  if (auth.role === 'operator' && !visit.person.isOperator) throw forbidden('an operator')
}

/** Runs when the body has been read, because the organisation may be in it. */
export function assertRoleInOrganisation(visit: Visit): void | Promise<void> {
  const { auth } = visit.route
  if (typeof auth !== 'object' || !('organisation' in auth) || hasEveryRight(visit.person)) return
  const organisationId = auth.organisation(visit.request!)
  if (!(organisationId instanceof Promise)) return assertRole(visit, auth, organisationId)
  return organisationId.then((found) => assertRole(visit, auth, found))
}

/** The request acts for the organisation of its path, as with its API key. */
export const isActing = (auth: RouteAuthentication): auth is OrganisationAuthentication =>
  typeof auth === 'object' && 'organisation' in auth && auth.acting === true

/** Runs before the body is read. */
async function findActingOrganisation(
  visit: Visit,
  auth: OrganisationAuthentication,
  { organisations }: Authenticators,
): Promise<Caller> {
  const request = visit.request!
  const organisationId = await auth.organisation(request)
  if (!hasEveryRight(visit.person)) assertRole(visit, auth, organisationId)
  const organisation = organisationId === undefined ? undefined : organisations.get(organisationId)
  if (!organisation) throw auth.missing(request)
  return organisation
}

/** No person: authenticateRole has accepted the operator token. */
function hasEveryRight(person: Person | undefined): boolean {
  return person === undefined || person.isOperator
}

function assertRole(visit: Visit, auth: OrganisationAuthentication, organisationId: string | undefined) {
  const role = organisationId === undefined ? undefined : visit.person?.memberships.get(organisationId)
  if (role === undefined) throw auth.missing(visit.request!)
  if (auth.role === 'administrator' && role !== 'administrator') throw forbidden('an administrator of the organisation')
  visit.authorisedFor = organisationId
}

/** Whether the request has every right in this organisation. */
export function isAdministratorOf({ person }: Pick<FastifyRequest, 'person'>, organisationId: string): boolean {
  return hasEveryRight(person) || person?.memberships.get(organisationId) === 'administrator'
}

/** The organisations whose data a list may show: all (undefined) for operators, else those in which the person has this role. */
export function visibleOrganisations(
  { person }: Pick<FastifyRequest, 'person'>,
  role: 'administrator' | 'member',
): string[] | undefined {
  if (!person || person.isOperator) return undefined
  return [...person.memberships].flatMap(([id, held]) => (role === 'member' || held === role ? [id] : []))
}

/** Whose turns at the database the statements of a request take that concerns no single organisation. */
export const ownerOf = ({ visit }: Pick<FastifyRequest, 'visit'>): string => visit.owner

/**
 * Rejects a change that another site sends with the person's cookie. Browsers state the origin of every request that is neither GET
 * nor HEAD; a request without this statement is rejected too.
 */
export function assertSameSite(request: SiteRequest, publicUrl: string | undefined): void {
  if (safeMethods.has(request.method)) return
  const { origin, 'sec-fetch-site': site } = request.headers
  const isOwn = site === undefined || site === 'same-origin'
  if (origin === undefined ? site === 'same-origin' : isOwn && ownOrigins(request, publicUrl).includes(origin)) return
  throw new AppError(
    'cross_site_request',
    'The request does not come from this site. Send it from a page of this server, or use the operator token.',
  )
}

/** As `assertSameSite` for routes without a credential, such as those of links with a token: programs need not state an origin. */
export function refuseOtherPages(request: SiteRequest, publicUrl: string | undefined): void {
  if (request.headers.origin !== undefined) assertSameSite(request, publicUrl)
}

type SiteRequest = Pick<FastifyRequest, 'method' | 'headers' | 'host' | 'protocol'>

/** The origins of this server's pages, as browsers write them in `Origin`. */
function ownOrigins({ headers, host, protocol }: SiteRequest, publicUrl: string | undefined): (string | undefined)[] {
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin
  // The public address has one scheme: a page of its host with the other one may come from an attacker in the network.
  if (publicOrigin !== undefined && originOf(publicOrigin.split(':', 1)[0]!, host) === publicOrigin)
    return [publicOrigin]
  return [
    publicOrigin,
    originOf(protocol === 'https' ? 'https' : 'http', host),
    // A proxy that ends TLS may not be in `server.trustProxy`. Then the browser itself must state that the page is of this server.
    ...(headers['sec-fetch-site'] === 'same-origin' ? [originOf('https', host)] : []),
  ]
}

/** Without the port that is usual for the scheme. Undefined if `host` is not valid. */
const originOf = (scheme: string, host: string) => URL.parse(`${scheme}://${host}`)?.origin

export function forbidden(who: string): AppError {
  return new AppError('forbidden_role', `This needs the role of ${who}.`)
}
