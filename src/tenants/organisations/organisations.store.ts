import {
  columnsOf,
  countRows,
  type Database,
  isForeignKeyViolation,
  type Queryable,
  type RecordChange,
} from '../../platform/database/index.ts'
import {
  AppError,
  type OrganisationId,
  isUuid,
  sharedOwner,
  type StoredCredential,
} from '../../platform/kernel/index.ts'
import { type Actor, adminChangesOf, changedFields, type SealedColumn } from '../operators/index.ts'
import { describeOrganisation } from './describe-organisation.ts'
import type { Organisation, OrganisationRecord, RemovedOrganisation } from './organisation.ts'
import {
  insertRow,
  type OrganisationRow,
  type RecordRow,
  selectRecord,
  toOrganisation,
  toRecord,
  updateRow,
} from './organisation-rows.store.ts'

/** The topic of organisations and their keys in the change feed. */
export const organisationsTopic = 'organisations'

const log = adminChangesOf((id: OrganisationId) => ({ subjectType: 'organisation', subjectId: id, organisationId: id }))

export const webhookSecretsColumn: SealedColumn = {
  kind: 'webhooks',
  table: 'organisations',
  id: 'id',
  column: 'webhook_secret_sealed',
  contextOf: (id) => `webhook:${id}`,
}

interface OrganisationsPage {
  total: number
  records: OrganisationRecord[]
}

export interface OrganisationFilter {
  /** Whose turns the statements take. */
  owner: string
  search?: string
  ids?: string[]
  limit: number
  offset: number
}

export type OrganisationStore = ReturnType<typeof createOrganisationStore>

/** When a key was used. */
export interface KeyUse {
  readonly organisationId: OrganisationId
  readonly hash: Uint8Array
  readonly usedAtMs: number
}

const insertKey = `INSERT INTO api_keys (organisation_id, key_hash, prefix, last_four, created_at, created_by)
  VALUES ($1, $2, $3, $4, $5, $6)`

export function createOrganisationStore(database: Database, recordChange: RecordChange) {
  const change = createRowChange(database, recordChange)

  async function insertWithin(transaction: Queryable, organisation: Organisation, actor: Actor) {
    await insertRow(transaction, organisation)
    await log(transaction, actor, organisation.createdAt, 'organisation.created', organisation.id, {
      before: null,
      after: describeOrganisation(organisation),
    })
    await recordChange(transaction, organisationsTopic, organisation.id)
  }

  return {
    ...createReads(database),
    ...createKeyChanges(change),
    /** Stores the last use of each key that is still the organisation's key, unless a later or the same one is stored. */
    noteKeyUses: (uses: readonly KeyUse[]): Promise<void> => noteKeyUses(database, uses),
    insert: (organisation: Organisation, actor: Actor): Promise<void> =>
      database.for(sharedOwner).transaction((transaction) => insertWithin(transaction, organisation, actor)),
    /** The same within a transaction of the caller. */
    insertWithin,
    /** Applies `change` to the current row under its lock. Resolves to false if there is no such organisation. */
    update: (
      id: string,
      makeNext: (current: Organisation) => Organisation,
      actor: Actor,
      nowMs: number,
    ): Promise<boolean> =>
      change(id, async (transaction, current) => {
        const next = makeNext(current)
        const changed = changedFields(describeOrganisation(current), describeOrganisation(next))
        if (!changed) return
        await updateRow(transaction, next, nowMs)
        await log(transaction, actor, nowMs, 'organisation.updated', current.id, changed)
      }),
    /** Sets or clears the webhook with its sealed secret. `check` may throw before. */
    setWebhook: (
      id: string,
      webhook: { url: string; secretSealed: string } | null,
      actor: Actor,
      nowMs: number,
      check: (current: Organisation) => void,
    ): Promise<boolean> =>
      change(id, async (transaction, current) => {
        check(current)
        if (!webhook && current.webhookUrl === null) return
        await transaction.execute(
          `UPDATE organisations SET webhook_url = $2, webhook_secret_sealed = $3, updated_at = $4 WHERE id = $1`,
          [id, webhook?.url ?? null, webhook?.secretSealed ?? null, new Date(nowMs)],
        )
        await log(transaction, actor, nowMs, webhook ? 'webhook.set' : 'webhook.removed', current.id, {
          before: { webhookOrigin: originOf(current.webhookUrl) },
          after: {
            webhookOrigin: originOf(webhook?.url),
            // The log has neither the address nor the secret, so it states that they changed.
            ...(webhook && { addressChanged: webhook.url !== current.webhookUrl, secretChanged: true }),
          },
        })
      }),
    /** Throws `conflict` while the organisation has Spaces. */
    remove: (id: string, actor: Actor, nowMs: number): Promise<boolean> =>
      change(id, async (transaction, current) => {
        const [apiKey = null] = await loadKeyDisplay(transaction, id)
        await transaction.execute(`DELETE FROM organisations WHERE id = $1`, [id])
        await log(transaction, actor, nowMs, 'organisation.removed', current.id, {
          before: { ...describeOrganisation(current), apiKey, webhookOrigin: originOf(current.webhookUrl) },
          after: null,
        })
      }).catch((error: unknown) => {
        if (!isForeignKeyViolation(error)) throw error
        throw new AppError('conflict', 'The organisation still has Spaces. Delete its Spaces first.', { cause: error })
      }),
  }
}

/** Runs `work` with the organisation's row locked and records the change for every instance. False: there is no such row. */
type RowChange = (
  id: string,
  work: (transaction: Queryable, current: Organisation) => Promise<void>,
) => Promise<boolean>

function createRowChange(database: Database, recordChange: RecordChange): RowChange {
  return async (id, work) => {
    if (!isUuid(id)) return false
    return database.for(id).transaction(async (transaction) => {
      const [row] = await transaction.query<OrganisationRow>(`SELECT * FROM organisations WHERE id = $1 FOR UPDATE`, [
        id,
      ])
      if (!row) return false
      await work(transaction, toOrganisation(row))
      await recordChange(transaction, organisationsTopic, id)
      return true
    })
  }
}

function createReads(database: Database) {
  return {
    async loadAll(): Promise<OrganisationRecord[]> {
      return (await database.for(sharedOwner).query<RecordRow>(selectRecord)).map(toRecord)
    },
    async loadMany(ids: readonly string[], owner: string = sharedOwner): Promise<OrganisationRecord[]> {
      const rows = await database
        .for(owner)
        .query<RecordRow>(`${selectRecord} WHERE o.id = ANY($1::uuid[])`, [ids.filter(isUuid)])
      return rows.map(toRecord)
    },
    /** Newest first. `search` is a part of the name; `ids` limits the result to these organisations. */
    async loadPage({ owner, search, ids, limit, offset }: OrganisationFilter): Promise<OrganisationsPage> {
      const own = database.for(owner)
      const matches = `($1::text IS NULL OR position(lower($1::text) IN lower(o.name)) > 0)
        AND ($2::uuid[] IS NULL OR o.id = ANY($2::uuid[]))`
      const total = await countRows(own, `organisations o WHERE ${matches}`, [search ?? null, ids ?? null])
      const rows = await own.query<RecordRow>(
        `${selectRecord} WHERE ${matches} ORDER BY o.created_at DESC, o.id DESC LIMIT $3 OFFSET $4`,
        [search ?? null, ids ?? null, limit, offset],
      )
      return { total, records: rows.map(toRecord) }
    },
    /** From the admin log, which has the values at the time of removal; undefined if no such organisation was removed. */
    async loadRemoved(id: string): Promise<RemovedOrganisation | undefined> {
      if (!isUuid(id)) return undefined
      const [removed] = await database.for(sharedOwner).query<Omit<RemovedOrganisation, 'id'>>(
        `SELECT before->>'timeZone' AS "timeZone", (before->>'periodAnchorDay')::int4 AS "periodAnchorDay" FROM admin_log
          WHERE organisation_id = $1::uuid AND action = 'organisation.removed' ORDER BY at DESC LIMIT 1`,
        [id],
      )
      return removed && { id: id as OrganisationId, ...removed }
    },
    async loadWebhookSecret(id: string): Promise<string | null> {
      const [row] = await database
        .for(sharedOwner)
        .query<{ sealed: string | null }>(`SELECT webhook_secret_sealed AS sealed FROM organisations WHERE id = $1`, [
          id,
        ])
      return row?.sealed ?? null
    },
  }
}

function createKeyChanges(change: RowChange) {
  return {
    /** Replaces the organisation's key by this one. */
    replaceKey: (id: string, key: StoredCredential, actor: Actor, nowMs: number): Promise<boolean> =>
      change(id, async (transaction, current) => {
        const [old] = await loadKeyDisplay(transaction, id)
        await transaction.execute(
          `${insertKey} ON CONFLICT (organisation_id) DO UPDATE SET key_hash = excluded.key_hash, prefix = excluded.prefix,
             last_four = excluded.last_four, created_at = excluded.created_at, created_by = excluded.created_by,
             last_used_at = NULL`,
          keyValues(id, key, actor, nowMs),
        )
        await log(transaction, actor, nowMs, old ? 'api_key.rotated' : 'api_key.created', current.id, {
          before: old ? { ...old } : null,
          after: { prefix: key.prefix, lastFour: key.lastFour },
        })
      }),
    /** Stores the key unless the organisation has one. Resolves to true if it was stored; `beforeCommit` runs before the commit. */
    async insertFirstKey(
      id: string,
      key: StoredCredential,
      actor: Actor,
      nowMs: number,
      beforeCommit: () => Promise<void>,
    ): Promise<boolean> {
      let inserted = false
      await change(id, async (transaction, current) => {
        const keyRow = keyValues(id, key, actor, nowMs)
        inserted = (await transaction.execute(`${insertKey} ON CONFLICT (organisation_id) DO NOTHING`, keyRow)) > 0
        if (!inserted) return
        const after = { prefix: key.prefix, lastFour: key.lastFour }
        await log(transaction, actor, nowMs, 'api_key.created', current.id, { before: null, after })
        await beforeCommit()
      })
      return inserted
    },
  }
}

type KeyDisplay = { prefix: string; lastFour: string }

function loadKeyDisplay(transaction: Queryable, id: string): Promise<KeyDisplay[]> {
  return transaction.query<KeyDisplay>(
    `SELECT prefix, last_four AS "lastFour" FROM api_keys WHERE organisation_id = $1`,
    [id],
  )
}

function keyValues(
  organisationId: string,
  { hash, prefix, lastFour }: StoredCredential,
  { name }: Actor,
  nowMs: number,
) {
  return [organisationId, hash, prefix, lastFour, new Date(nowMs), name]
}

/** So that a lost database does not hold up a stop. */
const noteTimeoutMs = 5_000

/** Does not record a change: no instance holds the last use in memory. */
async function noteKeyUses(database: Database, uses: readonly KeyUse[]): Promise<void> {
  await database.for(sharedOwner).execute(
    `UPDATE api_keys k SET last_used_at = u.used_at
       FROM (SELECT id, decode(hash, 'hex') AS hash, to_timestamp(ms / 1000.0) AS used_at
               FROM unnest($1::uuid[], $2::text[], $3::int8[]) AS u (id, hash, ms)) u
      WHERE k.organisation_id = u.id AND k.key_hash = u.hash
        AND (k.last_used_at IS NULL OR k.last_used_at < u.used_at)`,
    columnsOf(uses, 'organisationId', ({ hash }) => Buffer.from(hash).toString('hex'), 'usedAtMs'),
    { timeoutMs: noteTimeoutMs },
  )
}

/** Path and query of a webhook's address often contain a secret. */
function originOf(url: string | null | undefined): string | null {
  return url ? new URL(url).origin : null
}
