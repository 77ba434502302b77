import type { FastifyRequest } from 'fastify'
import { errorResponses } from '../../contract/errors.ts'
import {
  type OpenVisit,
  openVisitSchema,
  proofChallengeSchema,
  type SiteConfigBody,
  siteConfigSchema,
  siteParamsSchema,
  visitLimits,
  type VisitBody,
  visitSchema,
} from '../../contract/site-visits.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import { AppError } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { ProofOfWork } from './proof-of-work.ts'
import type { SiteSpending } from './site-spending.ts'
import { isPassword } from './site-password.ts'
import type { OpenSite, Sites } from './sites.ts'
import type { VisitLimits } from './visit-limits.ts'
import { noSite, openSite, type VisitSession, type VisitSessions } from './visit-sessions.ts'

export interface VisitRoutesDependencies {
  sites: Sites
  sessions: VisitSessions
  limits: VisitLimits
  proofs: ProofOfWork
  spending: Pick<SiteSpending, 'noteVisit'>
  findOrganisation: (id: string) => Organisation | undefined
  /** The signed-in person of a cookie. */
  findPerson: (headers: Headers) => Promise<{ id: string; memberships: ReadonlyMap<string, unknown> } | undefined>
}

const described = describeRoutes('none', 'Visitors')
const params = siteParamsSchema

/** Below `/s/{name}`: what a browser reads before a visit, and how a visit begins. Everything is refused from memory before a database works for it. */
export function visitRoutes(dependencies: VisitRoutesDependencies): Routes {
  return (app) => {
    addConfig(app, dependencies)
    addSession(app, dependencies)
  }
}

function needsProof({ limits }: Pick<VisitRoutesDependencies, 'limits'>, { site }: OpenSite, address: string): boolean {
  return site.settings.proofOfWork === 'always' || limits.pressure(site, address) > 0
}

function addConfig(app: App, dependencies: VisitRoutesDependencies) {
  const { sites, limits, proofs } = dependencies
  app.get(
    '/s/:name/config',
    described('getSiteConfig', 'Get what a chat page shows before a visit', {
      params,
      response: { 200: siteConfigSchema, ...errorResponses(404) },
    }),
    (request): SiteConfigBody => {
      const found = sites.find(request.params.name)
      if (!found) throw noSite()
      const { name, publicId, paused, settings } = found.site
      const { access, title, colour, logo, allowedOrigins } = settings
      return {
        name,
        publicId,
        state: paused ? 'paused' : 'open',
        access,
        title,
        colour,
        logo,
        proofOfWork: needsProof(dependencies, found, request.ip),
        embeddable: allowedOrigins.length > 0,
      }
    },
  )
  app.get(
    '/s/:name/challenge',
    described('getVisitChallenge', 'Get a puzzle that a browser solves before a visit', {
      params,
      response: { 200: proofChallengeSchema, ...errorResponses(403, 404, 429) },
    }),
    (request) => {
      const { site } = openSite(sites, request.params.name)
      limits.enterChallenge(site, request.ip)
      return proofs.challenge(site, limits.pressure(site, request.ip))
    },
  )
}

function addSession(app: App, dependencies: VisitRoutesDependencies) {
  app.post(
    '/s/:name/session',
    {
      ...described('openVisit', 'Begin or renew a visit', {
        description: 'For browsers on pages of this server. No API key is needed, and none is accepted.',
        params,
        body: openVisitSchema,
        response: { 200: visitSchema, ...errorResponses(400, 401, 403, 404, 413, 429) },
      }),
      bodyLimit: visitLimits.sessionBytes,
    },
    (request) => beginVisit(dependencies, request),
  )
}

async function beginVisit(
  dependencies: VisitRoutesDependencies,
  request: Pick<FastifyRequest, 'headers' | 'ip'> & { params: { name: string }; body: OpenVisit },
): Promise<VisitBody> {
  const { sites, sessions, limits, spending, findOrganisation } = dependencies
  const found = openSite(sites, request.params.name)
  const organisation = findOrganisation(found.site.organisationId)
  if (!organisation) throw noSite()
  limits.enterVisit(found.site, request.ip)
  const { visitorId, embeddedBy, session } = request.body
  assertOrigin(found, embeddedBy)
  const before = session === undefined ? undefined : sessions.renewable(found, session, visitorId, embeddedBy)
  const personId = await admit(dependencies, request, found, request.body, before)
  if (!before) {
    limits.noteBegun(found.site, request.ip)
    spending.noteVisit(found.site, organisation)
  }
  return renderVisit(found, sessions.mint(found, { visitorId, embeddedBy, personId }, before))
}

/** Browsers also enforce it: the page allows no other website to frame it. Programs can state what they want. */
function assertOrigin({ site }: OpenSite, embeddedBy: string | null): void {
  if (embeddedBy === null || site.settings.allowedOrigins.includes(embeddedBy)) return
  throw new AppError(
    'origin_not_allowed',
    'This website may not embed the chat. An administrator adds it to `allowedOrigins`.',
    { param: 'embeddedBy' },
  )
}

/** Throws where the visitor may not begin or renew a visit. Returns the id of a signed-in member. */
async function admit(
  dependencies: VisitRoutesDependencies,
  request: Pick<FastifyRequest, 'headers' | 'ip'>,
  found: OpenSite,
  { password, proof }: OpenVisit,
  before: VisitSession | undefined,
): Promise<string | null> {
  const { limits, proofs } = dependencies
  const { site } = found
  if (!before && needsProof(dependencies, found, request.ip)) await proofs.use(site, proof)
  if (site.settings.access === 'members') return assertMember(dependencies, request.headers, site)
  if (site.settings.access === 'password' && !before) {
    if (password === undefined) throw wrongPassword()
    limits.enterPassword(site, request.ip)
    if (!(await isPassword(password, site.passwordHash!))) throw wrongPassword()
  }
  return null
}

const wrongPassword = () =>
  new AppError('password_required', 'The password of this chat is missing or wrong.', { param: 'password' })

/** Throws `not_signed_in`, and `not_found` for people of other organisations. */
export async function assertMember(
  { findPerson }: Pick<VisitRoutesDependencies, 'findPerson'>,
  { cookie }: FastifyRequest['headers'],
  { organisationId }: { organisationId: string },
): Promise<string> {
  const person = cookie === undefined ? undefined : await findPerson(new Headers({ cookie }))
  if (!person) throw new AppError('not_signed_in', 'Sign in to use this chat.')
  if (!person.memberships.has(organisationId)) throw noSite()
  return person.id
}

function renderVisit(
  { site, space }: OpenSite,
  { session, expiresAt, expiresInSeconds, renewableUntil }: ReturnType<VisitSessions['mint']>,
): VisitBody {
  const { greeting, suggestions, citations } = site.settings
  const { keepConversations, conversationDays } = space.settings
  return {
    session,
    expiresAt: new Date(expiresAt).toISOString(),
    expiresInSeconds,
    renewableUntil: new Date(renewableUntil).toISOString(),
    greeting,
    suggestions: [...suggestions],
    citations,
    keepsConversations: keepConversations,
    conversationDays,
  }
}
