import {
  AppError,
  type OrganisationId,
  maximumPicoUsd,
  parsePicoUsd,
  invalidField,
} from '../../platform/kernel/index.ts'
import {
  type Organisation,
  type OrganisationLimits,
  type Subscription,
  defaultOrganisationLimits,
} from './organisation.ts'

/** Rules for new and changed organisations. Pure functions. */

/** Absent members keep their values. */
export type OrganisationChange = Partial<
  Omit<Organisation, 'id' | 'subscription' | 'limits' | 'webhookUrl' | 'webhookVersion' | 'createdAt'>
> & { subscription?: Partial<Subscription>; limits?: Partial<OrganisationLimits> }

export type NewOrganisation = OrganisationChange & { name: string }

/** 1,000 %: far above any real markup, so that basis points sent as percent are rejected. */
const maximumMarkupBasisPoints = 100_000
/** Bounds the memory per organisation on each instance. */
const maximumDisabledModels = 1_000
const maximumNameLength = 200

/** A new organisation with closed defaults: free plan, no gateway, no budget. The subscription begins now. */
export function makeOrganisation(id: OrganisationId, given: NewOrganisation, nowMs: number): Organisation {
  const blank: Organisation = {
    id,
    name: '',
    plan: 'free',
    subscription: { status: 'active', startsAt: nowMs, endsAt: null },
    gatewayEnabled: false,
    gatewayOptIn: false,
    monthlyBudgetPicoUsd: 0n,
    markupBasisPoints: 0,
    timeZone: 'UTC',
    periodAnchorDay: 1,
    disabledModels: [],
    limits: defaultOrganisationLimits,
    recordUsageTags: true,
    webhookUrl: null,
    webhookVersion: null,
    createdAt: nowMs,
  }
  return changeOrganisation(blank, given, nowMs)
}

/** The organisation after the change. Throws `invalid_request` with the invalid field. */
export function changeOrganisation(current: Organisation, change: OrganisationChange, nowMs: number): Organisation {
  const { subscription, disabledModels, limits, ...plain } = change
  const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined))
  const next: Organisation = {
    ...current,
    ...given,
    subscription: subscription ? changeSubscription(current.subscription, subscription, nowMs) : current.subscription,
    disabledModels: disabledModels ? [...new Set(disabledModels)].sort() : current.disabledModels,
    limits: changeLimits(current.limits, limits),
  }
  assertFields(next)
  return next
}

/** The disabled models after a switch of some. Throws `invalid_request` for a model that is switched both ways. */
export function switchModels(
  current: readonly string[],
  { enable, disable }: { enable: readonly string[]; disable: readonly string[] },
): string[] {
  const disabled = new Set(disable)
  const both = enable.find((id) => disabled.has(id))
  if (both !== undefined) throw invalidField('enable', `enable and disable both name the model ${both}.`)
  const enabled = new Set(enable)
  return [...current.filter((id) => !enabled.has(id)), ...disabled]
}

const maximumLimits: Record<keyof OrganisationLimits, number> = {
  concurrentCalls: 100_000,
  requestsPerMinute: 10_000_000,
  tokensPerMinute: 1_000_000_000,
  concurrentUploads: 1_000,
}

function changeLimits(current: OrganisationLimits, change: Partial<OrganisationLimits> = {}): OrganisationLimits {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const next: OrganisationLimits = { ...current, ...given }
  for (const [name, maximum] of Object.entries(maximumLimits) as [keyof OrganisationLimits, number][]) {
    const value = next[name]
    if (value === null && (name === 'requestsPerMinute' || name === 'tokensPerMinute')) continue
    if (value === null || !Number.isInteger(value) || value < 1 || value > maximum) {
      const param = `limits.${name}`
      throw invalidField(param, `${param} must be a whole number from 1 to ${maximum}.`)
    }
  }
  return next
}

/**
 * A subscription that is cancelled without an end date ends now, otherwise at that date. One that is made active again without an end
 * date has no end.
 */
function changeSubscription(current: Subscription, change: Partial<Subscription>, nowMs: number): Subscription {
  const status = change.status ?? current.status
  const startsAt = change.startsAt ?? current.startsAt
  let endsAt = change.endsAt === undefined ? current.endsAt : change.endsAt
  if (change.status === 'cancelled' && (change.endsAt === undefined || change.endsAt === null)) {
    // A subscription that has not begun yet ends at its start.
    endsAt = Math.max(startsAt, current.endsAt === null ? nowMs : Math.min(current.endsAt, nowMs))
  } else if (change.status === 'active' && current.status === 'cancelled' && change.endsAt === undefined) {
    endsAt = null
  }
  if (endsAt !== null && endsAt < startsAt) {
    throw invalidField('subscription.endsAt', 'subscription.endsAt is before subscription.startsAt.')
  }
  return { status, startsAt, endsAt }
}

function assertFields(organisation: Organisation): void {
  const wrong = (param: string, message: string) => invalidField(param, `${param} ${message}`)
  if (organisation.name.trim() === '' || organisation.name.length > maximumNameLength) {
    throw wrong('name', `must have 1 to ${maximumNameLength} characters.`)
  }
  const { monthlyBudgetPicoUsd: budget, markupBasisPoints: markup, periodAnchorDay: day } = organisation
  if (budget < 0n || budget > maximumPicoUsd) throw wrong('monthlyBudgetUsd', 'must be between 0 and 4000000 dollars.')
  if (!Number.isInteger(markup) || markup < 0 || markup > maximumMarkupBasisPoints) {
    throw wrong('markupPercent', `must be between 0 and ${maximumMarkupBasisPoints / 100}.`)
  }
  if (!Number.isInteger(day) || day < 1 || day > 28) throw wrong('periodAnchorDay', 'must be a day from 1 to 28.')
  if (!isTimeZone(organisation.timeZone)) {
    throw wrong('timeZone', 'must be an IANA time zone such as UTC or Europe/Berlin.')
  }
  if (organisation.disabledModels.length > maximumDisabledModels) {
    throw wrong('disabledModels', `must have at most ${maximumDisabledModels} entries.`)
  }
}

/** Parses dollars exactly. Throws `invalid_request` for text that is not a decimal or has more than 12 decimals. */
export function parseMonthlyBudget(decimal: string | number): bigint {
  try {
    return parsePicoUsd(decimal)
  } catch (error) {
    throw new AppError(
      'invalid_request',
      'monthlyBudgetUsd must be US dollars as a decimal such as "50.00", with at most 12 decimals.',
      { param: 'monthlyBudgetUsd', cause: error },
    )
  }
}

/** Parses percent exactly to basis points: `"12.5"` → 1250. At most two decimals. */
export function parseMarkup(percent: string | number): number {
  const match = /^(\d{1,6})(?:\.(\d{1,2})0*)?$/.exec(String(percent).trim())
  if (!match) {
    throw invalidField(
      'markupPercent',
      'markupPercent must be percent as a decimal such as "12.5", with at most 2 decimals.',
    )
  }
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'))
}

function isTimeZone(name: string): boolean {
  // Intl also accepts offsets such as +02:00. They have no daylight saving, so a month would begin at the wrong hour for half the year.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
