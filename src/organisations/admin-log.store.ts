import type { Database, Queryable } from '../database/index.ts'
import { type OrganisationId, createUuid } from '../kernel/index.ts'

/** Who changes something, for the admin log. */
export interface Actor {
  /** `operator`, `service` (the first start), later `administrator:<id>`. */
  readonly name: string
  /** The HTTP request that asked for it; null where none did. */
  readonly requestId: string | null
}

export interface AdminLogEntry {
  id: string
  at: Date
  actor: string
  requestId: string | null
  /** `organisation.updated`, `api_key.rotated` … */
  action: string
  subjectType: string
  subjectId: string
  organisationId: OrganisationId | null
  /** The changed fields before and after; null where there was nothing. Never holds a secret. */
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

export type NewAdminLogEntry = Omit<AdminLogEntry, 'id' | 'at' | 'actor' | 'requestId'> & { actor: Actor; atMs: number }

/** Writes one record. Call inside the transaction that makes the change, so that neither exists without the other. */
export async function recordAdminChange(transaction: Queryable, entry: NewAdminLogEntry): Promise<void> {
  await transaction.execute(
    `INSERT INTO admin_log (id, at, actor, request_id, action, subject_type, subject_id, organisation_id, before, after)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10::jsonb)`,
    [
      createUuid(entry.atMs),
      new Date(entry.atMs),
      entry.actor.name,
      entry.actor.requestId,
      entry.action,
      entry.subjectType,
      entry.subjectId,
      entry.organisationId,
      entry.before === null ? null : JSON.stringify(entry.before),
      entry.after === null ? null : JSON.stringify(entry.after),
    ],
  )
}

/** The members of `after` that differ from `before`, from both sides; null where nothing differs. Values must be JSON. */
export function changedFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): { before: Record<string, unknown>; after: Record<string, unknown> } | null {
  const names = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  if (names.length === 0) return null
  const pick = (source: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(names.map((name) => [name, source[name] ?? null]))
  return { before: pick(before), after: pick(after) }
}

export interface AdminLog {
  /** Newest first. */
  loadPage(filter: { organisationId?: string; limit: number; offset: number }): Promise<{
    total: number
    entries: AdminLogEntry[]
  }>
}

export function createAdminLog({ database }: { database: Database }): AdminLog {
  return {
    async loadPage({ organisationId, limit, offset }) {
      const [counted] = await database.query<{ total: bigint }>(
        `SELECT count(*) AS total FROM admin_log WHERE ($1::uuid IS NULL OR organisation_id = $1::uuid)`,
        [organisationId ?? null],
      )
      const entries = await database.query<AdminLogEntry>(
        `SELECT id, at, actor, request_id AS "requestId", action, subject_type AS "subjectType",
                subject_id AS "subjectId", organisation_id AS "organisationId", before, after
           FROM admin_log
          WHERE ($1::uuid IS NULL OR organisation_id = $1::uuid)
          ORDER BY at DESC, id DESC LIMIT $2 OFFSET $3`,
        [organisationId ?? null, limit, offset],
      )
      return { total: Number(counted?.total ?? 0n), entries }
    },
  }
}
