import { formatPicoUsd, versionOf } from '../../platform/kernel/index.ts'
import type { OrganisationBody } from '../../contract/operator.ts'
import { isSubscriptionActive } from './gate.ts'
import type { ApiKeySummary, Organisation, OrganisationRecord } from './organisation.ts'

/** The fields that the operator can set, as JSON: money and markup as exact decimals, times as ISO 8601. For responses and the admin log. */
export function describeOrganisation(organisation: Organisation) {
  const { subscription } = organisation
  return {
    name: organisation.name,
    plan: organisation.plan,
    subscription: {
      status: subscription.status,
      startsAt: new Date(subscription.startsAt).toISOString(),
      endsAt: subscription.endsAt === null ? null : new Date(subscription.endsAt).toISOString(),
    },
    gatewayEnabled: organisation.gatewayEnabled,
    gatewayOptIn: organisation.gatewayOptIn,
    monthlyBudgetUsd: formatPicoUsd(organisation.monthlyBudgetPicoUsd),
    markupPercent: formatMarkup(organisation.markupBasisPoints),
    timeZone: organisation.timeZone,
    periodAnchorDay: organisation.periodAnchorDay,
    disabledModels: [...organisation.disabledModels],
    limits: { ...organisation.limits },
    recordUsageTags: organisation.recordUsageTags,
  }
}

/** The version of all settings, for `if-match`. */
export const versionOfOrganisation = (organisation: Organisation): string => versionOf(versionedSettings(organisation))

/** What `assertVersion` compares. */
export const versionedSettings = (organisation: Organisation) => ({
  ...describeOrganisation(organisation),
  webhook: organisation.webhookVersion,
})

/** Basis points as exact percent: 1250 → `12.5`. */
function formatMarkup(basisPoints: number): string {
  const fraction = String(basisPoints % 100)
    .padStart(2, '0')
    .replace(/0+$/, '')
  return `${Math.floor(basisPoints / 100)}${fraction === '' ? '' : `.${fraction}`}`
}

/** The response form of a record. */
export function renderOrganisation(
  { organisation, apiKey, updatedAt }: OrganisationRecord,
  nowMs: number,
): OrganisationBody {
  const described = describeOrganisation(organisation)
  return {
    id: organisation.id,
    ...described,
    subscription: { ...described.subscription, active: isSubscriptionActive(organisation.subscription, nowMs) },
    webhookUrl: organisation.webhookUrl,
    apiKey: apiKey && renderApiKey(apiKey),
    version: versionOfOrganisation(organisation),
    createdAt: toIso(organisation.createdAt),
    updatedAt: toIso(updatedAt),
  }
}

/** A key without its secret part. */
export function renderApiKey(apiKey: ApiKeySummary): NonNullable<OrganisationBody['apiKey']> {
  const { createdAt, lastUsedAt } = apiKey
  return { ...apiKey, createdAt: toIso(createdAt), lastUsedAt: lastUsedAt === null ? null : toIso(lastUsedAt) }
}

function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
