import {
  developerToolsParamsSchema,
  type DeveloperToolsView,
  developerToolsViewSchema,
  type GatewayRequirement,
  maximumViewModels,
} from '../contract/console-developer-tools.ts'
import { errorResponses } from '../contract/errors.ts'
import { describeRoutes, type Routes } from '../platform/http/index.ts'
import type { Clock } from '../platform/kernel/index.ts'
import { type LiveCatalogue, listCapabilities, type ResolvedModel } from '../gateway/models/index.ts'
import {
  administrators,
  describeOrganisation,
  isSubscriptionActive,
  type Organisation,
  type Organisations,
  renderApiKey,
  versionOfOrganisation,
} from '../tenants/organisations/index.ts'
import { renderOfferedModel } from './offered-models.ts'
import { originOf } from './origin.ts'

const described = describeRoutes(administrators, 'Console: developer tools')

export interface DeveloperToolsDependencies {
  organisations: Pick<Organisations, 'loadRecord'>
  catalogue: Pick<LiveCatalogue, 'capable' | 'offered'>
  /** From memory. */
  hasCredit: (organisation: Organisation) => boolean
  publicUrl: string | undefined
  clock: Clock
}

/** Team Settings > Developer Tools and the playground of the gateway: state, key, base URL and models, in one request. */
export function developerToolsViewRoutes(dependencies: DeveloperToolsDependencies): Routes {
  const { organisations, publicUrl } = dependencies
  return (app) => {
    app.get(
      '/api/console/organisations/:id/developer-tools',
      described('viewDeveloperTools', 'State of the gateway, API key and models of an organisation', {
        params: developerToolsParamsSchema,
        response: { 200: developerToolsViewSchema, ...errorResponses(401, 403, 404) },
      }),
      (request) =>
        organisations
          .loadRecord(request.params.id)
          .then((record) => renderView(record, publicUrl ?? originOf(request), dependencies)),
    )
  }
}

function renderView(
  { organisation, apiKey }: Awaited<ReturnType<Organisations['loadRecord']>>,
  origin: string,
  { catalogue, hasCredit, clock }: DeveloperToolsDependencies,
): DeveloperToolsView {
  const nowMs = clock.now()
  const { subscription, markupPercent } = describeOrganisation(organisation)
  const { startsAt, endsAt } = subscription
  const isActive = isSubscriptionActive(organisation.subscription, nowMs)
  const { id, name, plan, gatewayEnabled, gatewayOptIn } = organisation
  const models = catalogue.offered(organisation, nowMs)
  const capabilitiesOf = (resolved: ResolvedModel) => listCapabilities(catalogue, resolved)
  return {
    organisation: {
      id,
      name,
      plan,
      subscription: { active: isActive, startsAt, endsAt },
      gatewayEnabled,
      gatewayOptIn,
      markupPercent,
      version: versionOfOrganisation(organisation),
    },
    missing: findMissing(organisation, { isActive, hasCredit: hasCredit(organisation), hasKey: apiKey !== null }),
    apiKey: apiKey && renderApiKey(apiKey),
    baseUrl: `${origin.replace(/\/+$/, '')}/v1/gateway`,
    models: models
      .slice(0, maximumViewModels)
      .map((model) => renderOfferedModel(model, { capabilitiesOf, organisation, nowMs })),
    modelsTotal: models.length,
  }
}

function findMissing(
  { plan, gatewayEnabled, gatewayOptIn }: Organisation,
  { isActive, hasCredit, hasKey }: { isActive: boolean; hasCredit: boolean; hasKey: boolean },
): GatewayRequirement[] {
  const fulfilled: Record<GatewayRequirement, boolean> = {
    plan: plan === 'enterprise',
    enablement: gatewayEnabled,
    opt_in: gatewayOptIn,
    subscription: isActive,
    budget: hasCredit,
    api_key: hasKey,
  }
  return (Object.keys(fulfilled) as GatewayRequirement[]).filter((requirement) => !fulfilled[requirement])
}
