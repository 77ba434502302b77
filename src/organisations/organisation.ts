import type { OrganisationId } from '../kernel/index.ts'

export type Plan = 'free' | 'team' | 'enterprise'

export interface Subscription {
  status: 'active' | 'cancelled'
  /** Milliseconds since the epoch; before it the subscription does not count. */
  startsAt: number
  /** Milliseconds since the epoch; from it on the subscription has ended. null: open end. */
  endsAt: number | null
}

/** What one organisation may use of one instance at a time, so that it cannot starve the others. */
export interface OrganisationLimits {
  /** Completions and chats that run at the same time. */
  readonly concurrentCalls: number
  /** Completions and chats that begin within a minute; null: no limit. */
  readonly requestsPerMinute: number | null
  readonly concurrentUploads: number
}

/** Limits of an organisation that names none. The migration that adds the columns has the same values. */
export const defaultOrganisationLimits: OrganisationLimits = {
  concurrentCalls: 256,
  requestsPerMinute: null,
  concurrentUploads: 16,
}

/** One organisation = one team = one API key = one budget. Immutable: a change makes a new object in the snapshot. */
export interface Organisation {
  readonly id: OrganisationId
  readonly name: string
  readonly plan: Plan
  readonly subscription: Readonly<Subscription>
  /** Set by the operator. */
  readonly gatewayEnabled: boolean
  /** Set by a team administrator under Developer Tools. */
  readonly gatewayOptIn: boolean
  readonly monthlyBudgetPicoUsd: bigint
  /** 10,000 = 100 %. */
  readonly markupBasisPoints: number
  /** IANA zone of the budget's month. */
  readonly timeZone: string
  /** 1..28: the day of the month on which a budget period begins, at midnight in `timeZone`. */
  readonly periodAnchorDay: number
  /** Canonical ids that a team administrator has switched off. */
  readonly disabledModels: readonly string[]
  readonly limits: OrganisationLimits
  /** Where budget thresholds are sent; the secret that signs them stays in the database, encrypted. */
  readonly webhookUrl: string | null
  readonly createdAt: number
}

interface ApiKeySummary {
  readonly prefix: string
  readonly lastFour: string
  readonly createdAt: number
}

/** What usage reports need of an organisation that no longer exists. */
export type RemovedOrganisation = Pick<Organisation, 'id' | 'timeZone' | 'periodAnchorDay'>

/** An organisation with what is shown and looked up of its key. */
export interface OrganisationRecord {
  readonly organisation: Organisation
  readonly apiKey: ApiKeySummary | null
  readonly keyHash: Uint8Array | null
  readonly updatedAt: number
}
