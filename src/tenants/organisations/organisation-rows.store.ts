import type { Queryable } from '../../platform/database/index.ts'
import { type OrganisationId, versionOf } from '../../platform/kernel/index.ts'
import type { Organisation, OrganisationRecord, Plan, Subscription } from './organisation.ts'

/** Maps rows of `organisations` and `api_keys` to values and back. */

export const selectRecord = `SELECT o.*, k.key_hash, k.prefix, k.last_four, k.created_at AS key_created_at,
    k.created_by AS key_created_by, k.last_used_at AS key_last_used_at
  FROM organisations o LEFT JOIN api_keys k ON k.organisation_id = o.id`

export interface OrganisationRow {
  id: string
  name: string
  plan: Plan
  subscription_status: Subscription['status']
  subscription_starts_at: Date
  subscription_ends_at: Date | null
  gateway_enabled: boolean
  gateway_opt_in: boolean
  monthly_budget_pico_usd: bigint
  markup_basis_points: number
  time_zone: string
  period_anchor_day: number
  disabled_models: string[]
  max_concurrent_calls: number
  requests_per_minute: number | null
  tokens_per_minute: number | null
  max_concurrent_uploads: number
  usage_tags: boolean
  webhook_url: string | null
  webhook_secret_sealed: string | null
  created_at: Date
  updated_at: Date
}

export interface RecordRow extends OrganisationRow {
  key_hash: Uint8Array | null
  prefix: string | null
  last_four: string | null
  key_created_at: Date | null
  key_created_by: string | null
  key_last_used_at: Date | null
}

export function toOrganisation(row: OrganisationRow): Organisation {
  return Object.freeze({
    id: row.id as OrganisationId,
    name: row.name,
    plan: row.plan,
    subscription: Object.freeze({
      status: row.subscription_status,
      startsAt: row.subscription_starts_at.getTime(),
      endsAt: row.subscription_ends_at?.getTime() ?? null,
    }),
    gatewayEnabled: row.gateway_enabled,
    gatewayOptIn: row.gateway_opt_in,
    monthlyBudgetPicoUsd: row.monthly_budget_pico_usd,
    markupBasisPoints: row.markup_basis_points,
    timeZone: row.time_zone,
    periodAnchorDay: row.period_anchor_day,
    disabledModels: Object.freeze([...row.disabled_models]),
    limits: Object.freeze({
      concurrentCalls: row.max_concurrent_calls,
      requestsPerMinute: row.requests_per_minute,
      tokensPerMinute: row.tokens_per_minute,
      concurrentUploads: row.max_concurrent_uploads,
    }),
    recordUsageTags: row.usage_tags,
    webhookUrl: row.webhook_url,
    webhookVersion:
      row.webhook_url === null ? null : versionOf({ url: row.webhook_url, secret: row.webhook_secret_sealed }),
    createdAt: row.created_at.getTime(),
  })
}

export function toRecord(row: RecordRow): OrganisationRecord {
  const { key_hash: keyHash, prefix, last_four: lastFour, key_created_at: keyCreatedAt } = row
  return {
    organisation: toOrganisation(row),
    apiKey:
      prefix !== null && lastFour !== null && keyCreatedAt !== null
        ? {
            prefix,
            lastFour,
            createdAt: keyCreatedAt.getTime(),
            createdBy: row.key_created_by,
            lastUsedAt: row.key_last_used_at?.getTime() ?? null,
          }
        : null,
    keyHash,
    updatedAt: row.updated_at.getTime(),
  }
}

/** In the order of `insertRow` and `updateRow`: $1 id, $2 name … $17 usage tags, $18 tokens per minute. */
function settableValues(organisation: Organisation) {
  const { subscription } = organisation
  return [
    organisation.id,
    organisation.name,
    organisation.plan,
    subscription.status,
    new Date(subscription.startsAt),
    subscription.endsAt === null ? null : new Date(subscription.endsAt),
    organisation.gatewayEnabled,
    organisation.gatewayOptIn,
    organisation.monthlyBudgetPicoUsd,
    organisation.markupBasisPoints,
    organisation.timeZone,
    organisation.periodAnchorDay,
    organisation.disabledModels,
    organisation.limits.concurrentCalls,
    organisation.limits.requestsPerMinute,
    organisation.limits.concurrentUploads,
    organisation.recordUsageTags,
    organisation.limits.tokensPerMinute,
  ]
}

export async function insertRow(transaction: Queryable, organisation: Organisation) {
  await transaction.execute(
    `INSERT INTO organisations (id, name, plan, subscription_status, subscription_starts_at, subscription_ends_at,
       gateway_enabled, gateway_opt_in, monthly_budget_pico_usd, markup_basis_points, time_zone, period_anchor_day,
       disabled_models, max_concurrent_calls, requests_per_minute, max_concurrent_uploads, usage_tags, tokens_per_minute,
       created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::text[], $14, $15, $16, $17, $18, $19, $19)`,
    [...settableValues(organisation), new Date(organisation.createdAt)],
  )
}

export async function updateRow(transaction: Queryable, organisation: Organisation, nowMs: number) {
  await transaction.execute(
    `UPDATE organisations SET name = $2, plan = $3, subscription_status = $4, subscription_starts_at = $5,
       subscription_ends_at = $6, gateway_enabled = $7, gateway_opt_in = $8, monthly_budget_pico_usd = $9,
       markup_basis_points = $10, time_zone = $11, period_anchor_day = $12, disabled_models = $13::text[],
       max_concurrent_calls = $14, requests_per_minute = $15, max_concurrent_uploads = $16, usage_tags = $17,
       tokens_per_minute = $18, updated_at = $19
     WHERE id = $1`,
    [...settableValues(organisation), new Date(nowMs)],
  )
}
