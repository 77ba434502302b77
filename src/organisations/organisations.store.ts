import { type Database, isForeignKeyViolation, type Queryable, type RecordChange } from '../database/index.ts'
import { AppError, type OrganisationId, isUuid, type StoredCredential } from '../kernel/index.ts'
import { type Actor, changedFields, recordAdminChange } from '../operators/index.ts'
import { describeOrganisation } from './describe-organisation.ts'
import type { Organisation, OrganisationRecord, Plan, RemovedOrganisation, Subscription } from './organisation.ts'

/** The topic under which the change feed tells of organisations and their keys. */
export const organisationsTopic = 'organisations'

interface OrganisationsPage {
  total: number
  records: OrganisationRecord[]
}

export interface OrganisationStore {
  loadAll(): Promise<OrganisationRecord[]>
  loadMany(ids: readonly string[]): Promise<OrganisationRecord[]>
  loadPage(filter: { search?: string; limit: number; offset: number }): Promise<OrganisationsPage>
  /** From the admin log, which keeps the values at the removal; undefined where no such organisation was removed. */
  loadRemoved(id: string): Promise<RemovedOrganisation | undefined>
  insert(organisation: Organisation, actor: Actor): Promise<void>
  /** The same inside a transaction of the caller. */
  insertWithin(transaction: Queryable, organisation: Organisation, actor: Actor): Promise<void>
  /** Applies `change` to the row as it is now, under its lock. False when there is no such organisation. */
  update(id: string, change: (current: Organisation) => Organisation, actor: Actor, nowMs: number): Promise<boolean>
  /** Sets or clears the webhook with its sealed secret. */
  setWebhook(
    id: string,
    webhook: { url: string; secretSealed: string } | null,
    actor: Actor,
    nowMs: number,
  ): Promise<boolean>
  loadWebhookSecret(id: string): Promise<string | null>
  /** Replaces the organisation's key by this one. */
  replaceKey(id: string, key: StoredCredential, actor: Actor, nowMs: number): Promise<boolean>
  /** Stores the organisation's key unless it has one. True when it was stored; `beforeCommit` runs just before. */
  insertFirstKey(
    id: string,
    key: StoredCredential,
    actor: Actor,
    nowMs: number,
    beforeCommit: () => Promise<void>,
  ): Promise<boolean>
  /** Throws `conflict` while it has Spaces. */
  remove(id: string, actor: Actor, nowMs: number): Promise<boolean>
}

const selectRecord = `SELECT o.*, k.key_hash, k.prefix, k.last_four, k.created_at AS key_created_at
  FROM organisations o LEFT JOIN api_keys k ON k.organisation_id = o.id`
const insertKey = `INSERT INTO api_keys (organisation_id, key_hash, prefix, last_four, created_at)
  VALUES ($1, $2, $3, $4, $5)`

export function createOrganisationStore(database: Database, recordChange: RecordChange): OrganisationStore {
  /** Runs `work` with the organisation's row locked; records the change for every instance. */
  async function change(id: string, work: (transaction: Queryable, current: Organisation) => Promise<void>) {
    if (!isUuid(id)) return false
    return database.transaction(async (transaction) => {
      const [row] = await transaction.query<OrganisationRow>(`SELECT * FROM organisations WHERE id = $1 FOR UPDATE`, [
        id,
      ])
      if (!row) return false
      await work(transaction, toOrganisation(row))
      await recordChange(transaction, organisationsTopic, id)
      return true
    })
  }

  async function insertWithin(transaction: Queryable, organisation: Organisation, actor: Actor) {
    await insertRow(transaction, organisation)
    await log(transaction, actor, organisation.createdAt, 'organisation.created', organisation.id, {
      before: null,
      after: describeOrganisation(organisation),
    })
    await recordChange(transaction, organisationsTopic, organisation.id)
  }

  return {
    async loadAll() {
      return (await database.query<RecordRow>(selectRecord)).map(toRecord)
    },
    async loadMany(ids) {
      const rows = await database.query<RecordRow>(`${selectRecord} WHERE o.id = ANY($1::uuid[])`, [ids.filter(isUuid)])
      return rows.map(toRecord)
    },
    async loadPage({ search, limit, offset }) {
      const matches = `($1::text IS NULL OR position(lower($1::text) IN lower(o.name)) > 0)`
      const [counted] = await database.query<{ total: bigint }>(
        `SELECT count(*) AS total FROM organisations o WHERE ${matches}`,
        [search ?? null],
      )
      const rows = await database.query<RecordRow>(
        `${selectRecord} WHERE ${matches} ORDER BY o.created_at DESC, o.id DESC LIMIT $2 OFFSET $3`,
        [search ?? null, limit, offset],
      )
      return { total: Number(counted?.total ?? 0n), records: rows.map(toRecord) }
    },
    async loadRemoved(id) {
      if (!isUuid(id)) return undefined
      const [removed] = await database.query<Omit<RemovedOrganisation, 'id'>>(
        `SELECT before->>'timeZone' AS "timeZone", (before->>'periodAnchorDay')::int4 AS "periodAnchorDay" FROM admin_log
          WHERE organisation_id = $1::uuid AND action = 'organisation.removed' ORDER BY at DESC LIMIT 1`,
        [id],
      )
      return removed && { id: id as OrganisationId, ...removed }
    },
    insert: (organisation, actor) =>
      database.transaction((transaction) => insertWithin(transaction, organisation, actor)),
    insertWithin,
    update: (id, makeNext, actor, nowMs) =>
      change(id, async (transaction, current) => {
        const next = makeNext(current)
        const changed = changedFields(describeOrganisation(current), describeOrganisation(next))
        if (!changed) return
        await updateRow(transaction, next, nowMs)
        await log(transaction, actor, nowMs, 'organisation.updated', current.id, changed)
      }),
    setWebhook: (id, webhook, actor, nowMs) =>
      change(id, async (transaction, current) => {
        await transaction.execute(
          `UPDATE organisations SET webhook_url = $2, webhook_secret_sealed = $3, updated_at = $4 WHERE id = $1`,
          [id, webhook?.url ?? null, webhook?.secretSealed ?? null, new Date(nowMs)],
        )
        await log(transaction, actor, nowMs, webhook ? 'webhook.set' : 'webhook.removed', current.id, {
          before: { webhookOrigin: originOf(current.webhookUrl) },
          after: { webhookOrigin: originOf(webhook?.url) },
        })
      }),
    async loadWebhookSecret(id) {
      const [row] = await database.query<{ sealed: string | null }>(
        `SELECT webhook_secret_sealed AS sealed FROM organisations WHERE id = $1`,
        [id],
      )
      return row?.sealed ?? null
    },
    replaceKey: (id, key, actor, nowMs) =>
      change(id, async (transaction, current) => {
        const [old] = await transaction.query<KeyDisplay>(
          `SELECT prefix, last_four AS "lastFour" FROM api_keys WHERE organisation_id = $1`,
          [id],
        )
        await transaction.execute(
          `${insertKey} ON CONFLICT (organisation_id) DO UPDATE SET key_hash = excluded.key_hash, prefix = excluded.prefix,
             last_four = excluded.last_four, created_at = excluded.created_at`,
          keyValues(id, key, nowMs),
        )
        await log(transaction, actor, nowMs, old ? 'api_key.rotated' : 'api_key.created', current.id, {
          before: old ? { ...old } : null,
          after: { prefix: key.prefix, lastFour: key.lastFour },
        })
      }),
    async insertFirstKey(id, key, actor, nowMs, beforeCommit) {
      let inserted = false
      await change(id, async (transaction, current) => {
        const keyRow = keyValues(id, key, nowMs)
        inserted = (await transaction.execute(`${insertKey} ON CONFLICT (organisation_id) DO NOTHING`, keyRow)) > 0
        if (!inserted) return
        const after = { prefix: key.prefix, lastFour: key.lastFour }
        await log(transaction, actor, nowMs, 'api_key.created', current.id, { before: null, after })
        await beforeCommit()
      })
      return inserted
    },
    remove: (id, actor, nowMs) =>
      change(id, async (transaction, current) => {
        await transaction.execute(`DELETE FROM organisations WHERE id = $1`, [id])
        await log(transaction, actor, nowMs, 'organisation.removed', current.id, {
          before: describeOrganisation(current),
          after: null,
        })
      }).catch((error: unknown) => {
        if (!isForeignKeyViolation(error)) throw error
        throw new AppError('conflict', 'The organisation still has Spaces. Delete its Spaces first.', { cause: error })
      }),
  }
}

function keyValues(organisationId: string, { hash, prefix, lastFour }: StoredCredential, nowMs: number) {
  return [organisationId, hash, prefix, lastFour, new Date(nowMs)]
}

interface OrganisationRow {
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
  max_concurrent_uploads: number
  webhook_url: string | null
  created_at: Date
  updated_at: Date
}

interface RecordRow extends OrganisationRow {
  key_hash: Uint8Array | null
  prefix: string | null
  last_four: string | null
  key_created_at: Date | null
}

type KeyDisplay = { prefix: string; lastFour: string }

function toOrganisation(row: OrganisationRow): Organisation {
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
      concurrentUploads: row.max_concurrent_uploads,
    }),
    webhookUrl: row.webhook_url,
    createdAt: row.created_at.getTime(),
  })
}

function toRecord(row: RecordRow): OrganisationRecord {
  const { key_hash: keyHash, prefix, last_four: lastFour, key_created_at: keyCreatedAt } = row
  return {
    organisation: toOrganisation(row),
    apiKey:
      prefix !== null && lastFour !== null && keyCreatedAt !== null
        ? { prefix, lastFour, createdAt: keyCreatedAt.getTime() }
        : null,
    keyHash,
    updatedAt: row.updated_at.getTime(),
  }
}

/** In the order of `insertRow` and `updateRow`: $1 id, $2 name … $16 concurrent uploads. */
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
  ]
}

async function insertRow(transaction: Queryable, organisation: Organisation) {
  await transaction.execute(
    `INSERT INTO organisations (id, name, plan, subscription_status, subscription_starts_at, subscription_ends_at,
       gateway_enabled, gateway_opt_in, monthly_budget_pico_usd, markup_basis_points, time_zone, period_anchor_day,
       disabled_models, max_concurrent_calls, requests_per_minute, max_concurrent_uploads, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::text[], $14, $15, $16, $17, $17)`,
    [...settableValues(organisation), new Date(organisation.createdAt)],
  )
}

async function updateRow(transaction: Queryable, organisation: Organisation, nowMs: number) {
  await transaction.execute(
    `UPDATE organisations SET name = $2, plan = $3, subscription_status = $4, subscription_starts_at = $5,
       subscription_ends_at = $6, gateway_enabled = $7, gateway_opt_in = $8, monthly_budget_pico_usd = $9,
       markup_basis_points = $10, time_zone = $11, period_anchor_day = $12, disabled_models = $13::text[],
       max_concurrent_calls = $14, requests_per_minute = $15, max_concurrent_uploads = $16, updated_at = $17
     WHERE id = $1`,
    [...settableValues(organisation), new Date(nowMs)],
  )
}

/** The path and the query of a webhook's address are often its password. */
function originOf(url: string | null | undefined): string | null {
  return url ? new URL(url).origin : null
}

function log(
  transaction: Queryable,
  actor: Actor,
  atMs: number,
  action: string,
  id: OrganisationId,
  change: { before: Record<string, unknown> | null; after: Record<string, unknown> | null },
) {
  return recordAdminChange(transaction, {
    actor,
    atMs,
    action,
    subjectType: 'organisation',
    subjectId: id,
    organisationId: id,
    ...change,
  })
}
