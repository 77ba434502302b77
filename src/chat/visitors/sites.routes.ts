import { errorResponses } from '../../contract/errors.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import {
  changeSiteSchema,
  type SiteBody,
  siteSuggestionsSchema,
  siteTodaySchema,
  type SiteViewBody,
  siteViewSchema,
} from '../../contract/sites.ts'
import { generationHeaders, generationOf } from '../../contract/settings-version.ts'
import type { App, Routes } from '../../platform/http/index.ts'
import { AppError, formatPicoUsd } from '../../platform/kernel/index.ts'
import { actorOf } from '../../tenants/operators/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import { type RoutesOfSpace, routesOfSpace, type Space } from '../spaces/index.ts'
import type { Site } from './site.ts'
import type { SiteSpending } from './site-spending.ts'
import type { Sites } from './sites.ts'

export interface SiteRoutesDependencies {
  sites: Sites
  spending: Pick<SiteSpending, 'loadToday'>
  getSpace: (id: string) => Space | undefined
  findOrganisation: (id: string) => Organisation | undefined
  /** Questions for visitors, from what the Space has. */
  suggest: (space: Space) => Promise<string[]>
  /** The address of this service, as the request or the settings have it. */
  originOf: (request: { protocol: string; host: string }) => string
}

const params = idParamsSchema
const path = '/api/spaces/:id/site'

/** `/api/spaces/{id}/site`: the website of a Space, for the people of its organisation. */
export function siteRoutes(dependencies: SiteRoutesDependencies): Routes {
  const context = { ...dependencies, ...routesOfSpace(dependencies.getSpace, 'Chat pages') }
  return (app) => {
    addReads(app, context)
    addChanges(app, context)
  }
}

type Context = RoutesOfSpace & SiteRoutesDependencies

function addReads(app: App, context: Context) {
  const { sites, spending, findOrganisation, suggest, forMembers, spaceOf } = context
  app.get(
    path,
    forMembers('getSite', 'Get the chat page of a Space', {
      params,
      response: { 200: siteViewSchema, ...errorResponses(401, 403, 404) },
    }),
    (request, reply) => {
      const space = spaceOf(request.params.id)
      const view = renderView(context, space, request)
      reply.header('etag', `"${view.site?.generation ?? 0}"`)
      return view
    },
  )
  app.get(
    `${path}/today`,
    forMembers('getSiteToday', 'What visitors have cost today', {
      params,
      response: { 200: siteTodaySchema, ...errorResponses(401, 403, 404) },
    }),
    async (request) => {
      const space = spaceOf(request.params.id)
      const site = sites.get(space.id)
      const organisation = findOrganisation(space.organisationId)
      if (!site || !organisation) throw new AppError('not_found', 'The Space has no chat page yet. Set it up first.')
      const { day, resetsAt, dailyCapPicoUsd, spentPicoUsd, heldPicoUsd, visits, messages } = await spending.loadToday(
        site,
        organisation,
      )
      return {
        day,
        resetsAt: new Date(resetsAt).toISOString(),
        capUsd: formatPicoUsd(dailyCapPicoUsd),
        spentUsd: formatPicoUsd(spentPicoUsd),
        heldUsd: formatPicoUsd(heldPicoUsd),
        sessions: visits,
        messages,
      }
    },
  )
  app.get(
    `${path}/suggestions`,
    forMembers('suggestSiteQuestions', 'Suggest questions for visitors', {
      description: 'From the golden questions and the headings of the files, without a model.',
      params,
      response: { 200: siteSuggestionsSchema, ...errorResponses(401, 403, 404) },
    }),
    async (request) => ({ questions: await suggest(spaceOf(request.params.id)) }),
  )
}

function addChanges(app: App, context: Context) {
  const { sites, forAdministrators, spaceOf } = context
  app.put(
    path,
    forAdministrators('changeSite', 'Set up or change the chat page of a Space', {
      description:
        'Replaces all settings; absent fields get their defaults, an absent `password` keeps the stored one. All visits end and browsers begin new ones. 409 if the name is taken, or the page was changed since it was read.',
      params,
      headers: generationHeaders('a site that was changed since is a 409. `"0"`: not set up yet.'),
      body: changeSiteSchema,
      response: { 200: siteViewSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    async (request, reply) => {
      const space = spaceOf(request.params.id)
      const site = await sites.change(space, request.body, actorOf(request), generationOf(request.headers))
      reply.header('etag', `"${site.generation}"`)
      return renderView(context, space, request)
    },
  )
  for (const [verb, summary] of [
    ['pause', 'Pause the chat page of a Space'],
    ['resume', 'Resume the chat page of a Space'],
  ] as const)
    app.post(
      `${path}/${verb}`,
      forAdministrators(`${verb}Site`, summary, {
        description: 'Effective at once. Repeating it changes nothing.',
        params,
        response: { 200: siteViewSchema, ...errorResponses(401, 403, 404) },
      }),
      async (request, reply) => {
        const space = spaceOf(request.params.id)
        const site = await sites[verb](space, actorOf(request))
        reply.header('etag', `"${site.generation}"`)
        return renderView(context, space, request)
      },
    )
}

function renderView(
  { sites, originOf }: Pick<SiteRoutesDependencies, 'sites' | 'originOf'>,
  space: Space,
  request: { protocol: string; host: string },
): SiteViewBody {
  const site = sites.get(space.id)
  const origin = originOf(request)
  const isEmbedded = site !== undefined && site.settings.allowedOrigins.length > 0
  return {
    site: site ? renderSite(site) : null,
    proposedName: site?.name ?? sites.proposeName(space),
    published: space.published,
    shareUrl: site ? `${origin}/s/${site.name}` : null,
    snippet: isEmbedded ? `<script src="${origin}/widget.js" data-space="${site.publicId}" async></script>` : null,
  }
}

function renderSite(site: Site): SiteBody {
  const { enabled, name, publicId, paused, generation, settings, passwordHash, dailyCapPicoUsd, updatedAt } = site
  return {
    enabled,
    name,
    ...settings,
    allowedOrigins: [...settings.allowedOrigins],
    dailyCapUsd: formatPicoUsd(dailyCapPicoUsd),
    publicId,
    hasPassword: passwordHash !== null,
    paused,
    generation,
    updatedAt: new Date(updatedAt).toISOString(),
  }
}
