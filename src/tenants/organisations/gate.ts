import { AppError } from '../../platform/kernel/index.ts'
import type { Organisation, Subscription } from './organisation.ts'

/** Rules for access to the gateway. Pure functions. */

/** Throws `gateway_not_enabled`, naming the first of plan, operator enablement and opt-in that is missing. */
export function assertGatewayAccess(organisation: Organisation): void {
  if (organisation.plan !== 'enterprise') {
    throw new AppError(
      'gateway_not_enabled',
      `The gateway needs the enterprise plan; this organisation has the ${organisation.plan} plan. Ask the operator to change the plan.`,
    )
  }
  if (!organisation.gatewayEnabled) {
    throw new AppError(
      'gateway_not_enabled',
      'The operator has not enabled the gateway for this organisation. Ask the operator to enable it.',
    )
  }
  if (!organisation.gatewayOptIn) {
    throw new AppError(
      'gateway_not_enabled',
      'This organisation has not opted in to the gateway. A team administrator can opt in under Developer Tools.',
    )
  }
}

/** True from `startsAt` until just before `endsAt`, with any status: a cancelled subscription runs until its end date. */
export function isSubscriptionActive({ status, startsAt, endsAt }: Subscription, nowMs: number): boolean {
  if (nowMs < startsAt) return false
  if (endsAt !== null) return nowMs < endsAt
  return status === 'active'
}

/** Throws `subscription_required` unless the subscription is active at `nowMs`. */
export function assertSubscription({ subscription }: Organisation, nowMs: number): void {
  if (isSubscriptionActive(subscription, nowMs)) return
  const { startsAt, endsAt } = subscription
  const reason =
    nowMs < startsAt
      ? `The subscription begins at ${new Date(startsAt).toISOString()}.`
      : endsAt === null
        ? 'The subscription is cancelled.'
        : `The subscription ended at ${new Date(endsAt).toISOString()}.`
  throw new AppError(
    'subscription_required',
    `${reason} An active subscription is needed; ask the operator to renew it.`,
  )
}
