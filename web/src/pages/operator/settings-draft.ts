import type { OrganisationBody } from '@contract/operator.ts'
import { fromLocalInput, toLocalInput } from '../../ui/local-time.ts'

/** The settings as inputs have them. */
export interface Draft {
  name: string
  plan: string
  gatewayEnabled: boolean
  status: string
  startsAt: string
  endsAt: string
  monthlyBudgetUsd: string
  markupPercent: string
  timeZone: string
  periodAnchorDay: string
  concurrentCalls: string
  /** Empty: no limit. */
  requestsPerMinute: string
  /** Empty: no limit. */
  tokensPerMinute: string
  concurrentUploads: string
  disabledModels: string[]
}

/** The fields that errors of the API name. */
export const fieldNames = [
  'name',
  'plan',
  'subscription.status',
  'subscription.startsAt',
  'subscription.endsAt',
  'monthlyBudgetUsd',
  'markupPercent',
  'timeZone',
  'periodAnchorDay',
  'limits.concurrentCalls',
  'limits.requestsPerMinute',
  'limits.tokensPerMinute',
  'limits.concurrentUploads',
  'disabledModels',
] as const

export function draftOf({ subscription, limits, ...organisation }: OrganisationBody): Draft {
  return {
    name: organisation.name,
    plan: organisation.plan,
    gatewayEnabled: organisation.gatewayEnabled,
    status: subscription.status,
    startsAt: toLocalInput(subscription.startsAt),
    endsAt: toLocalInput(subscription.endsAt),
    monthlyBudgetUsd: organisation.monthlyBudgetUsd,
    markupPercent: organisation.markupPercent,
    timeZone: organisation.timeZone,
    periodAnchorDay: String(organisation.periodAnchorDay),
    concurrentCalls: String(limits.concurrentCalls),
    requestsPerMinute: limits.requestsPerMinute === null ? '' : String(limits.requestsPerMinute),
    tokensPerMinute: limits.tokensPerMinute === null ? '' : String(limits.tokensPerMinute),
    concurrentUploads: String(limits.concurrentUploads),
    disabledModels: organisation.disabledModels,
  }
}

/** The body of the change with only the fields that differ; null without a difference. */
export function changesOf(stored: Draft, draft: Draft): Record<string, unknown> | null {
  const differs = (name: keyof Draft) => JSON.stringify(stored[name]) !== JSON.stringify(draft[name])
  const plain = (
    ['name', 'plan', 'gatewayEnabled', 'monthlyBudgetUsd', 'markupPercent', 'timeZone', 'disabledModels'] as const
  )
    .filter(differs)
    .map((name) => [name, draft[name]])
  const subscription = {
    ...(differs('status') ? { status: draft.status } : {}),
    ...(differs('startsAt') && draft.startsAt !== '' ? { startsAt: fromLocalInput(draft.startsAt) } : {}),
    ...(differs('endsAt') ? { endsAt: fromLocalInput(draft.endsAt) } : {}),
  }
  const limits = Object.fromEntries(
    (['concurrentCalls', 'requestsPerMinute', 'tokensPerMinute', 'concurrentUploads'] as const)
      .filter(differs)
      .map((name) => [name, name.endsWith('PerMinute') && draft[name] === '' ? null : numberOf(draft[name])]),
  )
  const changes = {
    ...Object.fromEntries(plain),
    ...(differs('periodAnchorDay') ? { periodAnchorDay: numberOf(draft.periodAnchorDay) } : {}),
    ...(Object.keys(subscription).length > 0 ? { subscription } : {}),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
  }
  return Object.keys(changes).length > 0 ? changes : null
}

/** Text that is no number is sent as it is, so that the error of the server names the field. */
function numberOf(text: string): number | string {
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}
