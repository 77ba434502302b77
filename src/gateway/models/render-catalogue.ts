import type { PriceSchedule, TokenPrices } from '../billing/index.ts'
import type { DeploymentBody, ModelBody, PriceBody, ProviderBody } from '../../contract/models.ts'
import { formatAttoUsd, formatPicoUsd } from '../../platform/kernel/index.ts'
import type { ProviderSettings, ResolvedTraits } from '../providers/index.ts'
import type { BuiltModel, DeclaredProvider } from './build-catalogue.ts'
import { type Deployment, euPrefix } from './catalogue.ts'
import type { HealthView } from './deployment-health.ts'
import { type LiveCatalogue, priceInForce } from './create-catalogue.ts'
import { lastFourOf } from './provider-secrets.ts'

/** The operator's view of the catalogue; contains no secrets. */

export function renderProvider(provider: DeclaredProvider, version: string): ProviderBody {
  const { apiKey, headers, credentials, id, format, ...settings } = provider.settings
  return {
    ...(settings as Partial<Omit<ProviderSettings, 'id' | 'format'>>),
    id,
    format,
    origin: provider.origin,
    enabled: provider.enabled,
    hosting: provider.hosting,
    models: provider.models,
    priceLists: [...provider.priceLists],
    apiKeyLastFour: lastFourOf(apiKey),
    headerNames: Object.keys(headers ?? {}).sort(),
    hasCredentials: credentials !== undefined,
    version,
  }
}

export interface RenderContext {
  nowMs: number
  health: (deploymentId: string) => HealthView
  /** Ids of the operator's prices. */
  priceId: (deploymentId: string, schedule: PriceSchedule) => string | null
  versionOf: LiveCatalogue['versionOf']
}

export function renderModel(model: BuiltModel, context: RenderContext): ModelBody {
  return {
    ...renderFacts(model, context),
    deployments: model.all.map((entry) => renderDeployment(model, entry, context)),
  }
}

/** The id and its `eu/` form, as far as a deployment serves them now. */
export function callableIdsOf(model: BuiltModel, nowMs: number): string[] {
  const callable = (side: BuiltModel['sides']['eu']) =>
    model.enabled &&
    (model.retiresAt === null || nowMs < model.retiresAt) &&
    side.some((deployment) => priceInForce(deployment, nowMs))
  return [
    ...(callable(model.sides.other) ? [model.id] : []),
    ...(callable(model.sides.eu) ? [euPrefix + model.id] : []),
  ]
}

export function renderFacts(
  model: BuiltModel,
  { nowMs, versionOf }: Pick<RenderContext, 'nowMs' | 'versionOf'>,
): Omit<ModelBody, 'deployments'> {
  return {
    id: model.id,
    origin: model.origin,
    enabled: model.enabled,
    kind: model.kind,
    aliases: [...model.aliases],
    ownedBy: model.ownedBy,
    tier: model.tier,
    plans: [...model.plans],
    contextTokens: model.contextTokens,
    maxOutputTokens: model.maxOutputTokens,
    dimensions: model.dimensions,
    retiresAt: model.retiresAt === null ? null : new Date(model.retiresAt).toISOString(),
    callableIds: callableIdsOf(model, nowMs),
    version: versionOf('model', model.id),
  }
}

export function renderDeployment(
  model: BuiltModel,
  { deployment, traits, origin, problem }: BuiltModel['all'][number],
  context: RenderContext,
): DeploymentBody {
  const { circuit, recentFailures, recentCalls, blockedUntil, lastError, accountError } = context.health(deployment.id)
  return {
    id: deployment.id,
    model: model.id,
    provider: deployment.providerId,
    origin,
    problem: problem ?? (accountError === null ? null : describeAccountError(accountError, deployment)),
    wireId: deployment.wire.id,
    baseModel: deployment.wire.baseModel,
    acceptsTemperature: deployment.wire.acceptsTemperature,
    reasoning: deployment.wire.reasoning,
    traits: renderTraits(deployment, traits),
    hosting: deployment.hosting,
    region: deployment.region,
    weight: deployment.weight,
    version: context.versionOf('deployment', deployment.id),
    prices: renderPrices(deployment, context),
    health: {
      circuit,
      recentFailures,
      recentCalls,
      blockedUntil: blockedUntil === null ? null : new Date(blockedUntil).toISOString(),
      lastError: lastError && {
        class: lastError.class,
        status: lastError.status,
        at: new Date(lastError.at).toISOString(),
      },
    },
  }
}

/** Limits in force; reasoning and temperature are separate fields. */
export function renderTraits({ wire }: Deployment, traits: ResolvedTraits): DeploymentBody['traits'] {
  const { reasoning: _reasoning, acceptsTemperature: _temperature, ...rest } = traits
  const { maxOutputTokens, contextTokens } = wire
  return { ...rest, maxOutputTokens, ...(contextTokens !== undefined && { contextTokens }) } as DeploymentBody['traits']
}

export function describeAccountError(
  { class: errorClass, status, at }: NonNullable<HealthView['accountError']>,
  { providerId, wire }: { providerId: string; wire: { id: string } },
): string {
  const when = `${status === null ? '' : `status ${status}, `}${new Date(at).toISOString()}`
  switch (errorClass) {
    case 'authentication':
      return `the provider ${providerId} rejects the key or its permissions (${when})`
    case 'quota':
      return `the account at the provider ${providerId} has no credit or has reached its spending limit (${when})`
    default:
      return `the provider ${providerId} does not offer the model ${wire.id} (${when})`
  }
}

export function renderPrices(
  deployment: BuiltModel['all'][number]['deployment'],
  { nowMs, priceId }: Pick<RenderContext, 'nowMs' | 'priceId'>,
): PriceBody[] {
  const inForce = priceInForce(deployment, nowMs)
  return deployment.prices.map((schedule) => ({
    id: priceId(deployment.id, schedule),
    source: schedule.source,
    validFrom: schedule.validFrom === 0 ? null : new Date(schedule.validFrom).toISOString(),
    inForce: schedule === inForce,
    ...perMillion(schedule.base),
    ...(schedule.toolUses && { perThousandUses: perThousandUses(schedule.toolUses) }),
    contextSteps: schedule.contextSteps.map(({ abovePromptTokens, prices }) => ({
      abovePromptTokens,
      ...perMillion(prices),
    })),
  }))
}

const usesPerPrice = 1_000n

function perThousandUses(toolUses: NonNullable<PriceSchedule['toolUses']>) {
  return Object.fromEntries(
    Object.entries(toolUses).map(([kind, price = 0n]) => [kind, formatAttoUsd(usesPerPrice * price)]),
  )
}

/** attoUsd per token, formatted as picoUsd, are dollars per million tokens. */
export function perMillion(prices: TokenPrices) {
  const optional = (name: 'cacheRead' | 'cacheWrite' | 'cacheWriteHour' | 'reasoning') =>
    prices[name] === undefined ? {} : { [name]: formatPicoUsd(prices[name]) }
  return {
    input: formatPicoUsd(prices.input),
    output: formatPicoUsd(prices.output),
    ...optional('cacheRead'),
    ...optional('cacheWrite'),
    ...optional('cacheWriteHour'),
    ...optional('reasoning'),
  }
}
