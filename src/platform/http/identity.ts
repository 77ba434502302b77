import type { FastifyRequest } from 'fastify'
import { AppError } from '../kernel/index.ts'
import type {
  Caller,
  OrganisationAuthentication,
  Person,
  RoleAuthentication,
  RouteAuthentication,
  VisitAuthentication,
} from './caller.ts'
import type { Visit } from './visit.ts'

/** Who makes a request: the organisation of a key, the operator of a token, or a person, with the role that the route needs. */

interface HasRawHeaders {
  raw: { rawHeaders: string[] }
}

/** Checks credentials. The result is undefined or false if a credential is not valid. `organisations` and `operatorTokens` read memory only. */
export interface Authenticators {
  organisations: { authenticate(key: string): Caller | undefined; get(id: string): Caller | undefined }
  operatorTokens: { authenticate(token: string): boolean }
  /** The person of a session cookie. */
  people: { authenticate(headers: Headers): Promise<Person | undefined> }
}

/**
 * The organisation of the request's API key. Every endpoint accepts `x-api-key` and `Authorization: Bearer`. A key that is absent,
 * malformed, revoked or unknown, and two different keys, get the same 401.
 */
export function authenticateOrganisation(request: HasRawHeaders, authenticators: Authenticators): Caller {
  const organisation = findOrganisation(request, authenticators)
  if (!organisation) {
    throw new AppError(
      'invalid_api_key',
      'The API key is missing or not valid. Send it as `Authorization: Bearer <key>` or in `x-api-key`; a team administrator finds it under Developer Tools.',
    )
  }
  return organisation
}

/** The same; undefined where that throws. */
export function findOrganisation(request: HasRawHeaders, { organisations }: Authenticators): Caller | undefined {
  const key = readKey(request)
  return key === undefined ? undefined : organisations.authenticate(key)
}

/** True for a valid operator token, false without a credential in the headers. Throws for any other credential. */
function authenticateOperator(request: FastifyRequest, { operatorTokens }: Authenticators): boolean {
  if (!hasCredential(request)) return false
  const token = readKey(request)
  if (token !== undefined && operatorTokens.authenticate(token)) return true
  throw new AppError(
    'invalid_operator_token',
    'The operator token is not valid. Send it as `Authorization: Bearer <token>`; it was printed at the first start.',
  )
}

/**
 * The only credential of a request. Undefined if there is none, or if credentials differ: two headers, a repeated header, values
 * joined by a proxy with commas, or a scheme other than Bearer next to a key.
 */
function readKey({ raw: { rawHeaders } }: HasRawHeaders): string | undefined {
  let found: string | undefined
  const accept = (key: string) => {
    if (found !== undefined && found !== key) return false
    found = key
    return true
  }
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    const value = rawHeaders[index + 1]!
    if (isNamed(name, 'x-api-key')) {
      if (!splitEqual(value).every(accept)) return undefined
    } else if (isNamed(name, 'authorization') && !/^(?:Bearer)?\s*$/i.test(value)) {
      if (!accept(/^Bearer +(\S+) *$/i.exec(value)?.[1] ?? '')) return undefined
    }
  }
  return found === '' ? undefined : found
}

function hasCredential({ headers }: FastifyRequest): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined
}

/** Looks at the raw headers: `headersDistinct` of Node.js builds a list for each header of the request. */
const isNamed = (name: string, wanted: string) => name.length === wanted.length && name.toLowerCase() === wanted

/** `key, key`: proxies join a repeated header in this form. */
function splitEqual(value: string): string[] {
  const parts = value.split(',').map((part) => part.trim())
  return parts.every((part) => part === parts[0]) ? parts.slice(0, 1) : [value.trim()]
}

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

export const isOfVisits = (auth: RouteAuthentication | undefined): auth is VisitAuthentication =>
  typeof auth === 'object' && 'visit' in auth

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
