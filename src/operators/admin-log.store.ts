import type { Database, Queryable } from '../database/index.ts'
import { createUuid } from '../kernel/index.ts'
import type { AdminLog, AdminLogEntry, NewAdminLogEntry } from './admin-log.ts'

/** Writes one entry. Call it inside the transaction of the change, so that both are committed or neither. */
export async function recordAdminChange(transaction: Queryable, entry: NewAdminLogEntry): Promise<void> {
  await transaction.execute(
    `INSERT INTO admin_log (id, at, actor, request_id, action, subject_type, subject_id, organisation_id, before, after, person_id, session_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10::jsonb, $11, $12)`,
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
      entry.actor.personId ?? null,
      entry.actor.sessionId ?? null,
    ],
  )
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
                subject_id AS "subjectId", organisation_id AS "organisationId", before, after,
                person_id AS "personId", session_id AS "sessionId"
           FROM admin_log
          WHERE ($1::uuid IS NULL OR organisation_id = $1::uuid)
          ORDER BY at DESC, id DESC LIMIT $2 OFFSET $3`,
        [organisationId ?? null, limit, offset],
      )
      return { total: Number(counted?.total ?? 0n), entries }
    },
  }
}
