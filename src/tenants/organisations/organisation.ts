import type { OrganisationId } from '../../platform/kernel/index.ts'

export type Plan = 'free' | 'team' | 'enterprise'

export interface Subscription {
  status: 'active' | 'cancelled'
  /** Milliseconds since the epoch. The subscription is not active before it. */
  startsAt: number
  /** Milliseconds since the epoch. The subscription is not active from then on. null: no end. */
  endsAt: number | null
}

/** Limits of one organisation on one instance, so that it cannot starve the others. */
export interface OrganisationLimits {
  /** Completions and chats that run at the same time. */
  readonly concurrentCalls: number
  /** Completions and chats that start within a minute; null: no limit. */
  readonly requestsPerMinute: number | null
  /** Tokens of the prompts and answers of completions and chats within a minute; null: no limit. */
  readonly tokensPerMinute: number | null
  readonly concurrentUploads: number
}

/** Limits of an organisation that names none. The migration that adds the columns has the same values. */
export const defaultOrganisationLimits: OrganisationLimits = {
  concurrentCalls: 256,
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrentUploads: 16,
}

/** One team with one API key and one budget. Immutable: a change puts a new object into the snapshot. */
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
  /** 1 to 28: the day of the month on which a budget period begins, at midnight in `timeZone`. */
  readonly periodAnchorDay: number
  /** Canonical ids that a team administrator has switched off. */
  readonly disabledModels: readonly string[]
  readonly limits: OrganisationLimits
  /** Whether usage reports record `user` and `metadata` of completions. They can be personal data. */
  readonly recordUsageTags: boolean
  /** Receives budget thresholds. The signing secret is stored encrypted and not loaded into memory. */
  readonly webhookUrl: string | null
  /** Changes with the address and with the signing secret. */
  readonly webhookVersion: string | null
  readonly createdAt: number
}

export interface ApiKeySummary {
  readonly prefix: string
  readonly lastFour: string
  readonly createdAt: number
  /** The email of a person, `operator` (the operator token) or `service` (the first start); null for older keys. */
  readonly createdBy: string | null
  /** In whole minutes; null: not used yet. */
  readonly lastUsedAt: number | null
}

/** The fields of a removed organisation that usage reports use. */
export type RemovedOrganisation = Pick<Organisation, 'id' | 'timeZone' | 'periodAnchorDay'>

/** An organisation with the display form and the hash of its key. */
export interface OrganisationRecord {
  readonly organisation: Organisation
  readonly apiKey: ApiKeySummary | null
  readonly keyHash: Uint8Array | null
  readonly updatedAt: number
}
