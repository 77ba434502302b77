import type { Erasure, ErasureCertificate, ErasedKind, ErasureKind, RemovedCounts } from '../../contract/erasures.ts'
import type { Database, Queryable } from '../../platform/database/index.ts'
import { createUuid, type OrganisationId, sharedOwner } from '../../platform/kernel/index.ts'
import { type Actor, recordAdminChange, type SealedColumn } from '../../tenants/operators/index.ts'
import type { ErasurePlan } from './erasure-step.ts'

export interface NewErasure {
  id: string
  organisationId: string
  kind: ErasureKind
  subjectDigest: string
  subjectSealed: string
  requestedAtMs: number
  actor: Actor
}

/** An erasure that this instance works on. */
export interface ClaimedErasure {
  id: string
  organisationId: string
  kind: ErasureKind
  subjectDigest: string
  subjectSealed: string
  requestedAt: Date
  requestedBy: string
}

export const erasuresColumn: SealedColumn = {
  kind: 'erasures',
  table: 'erasures',
  id: 'id',
  column: 'subject_sealed',
  contextOf: (id) => `erasure:${id}`,
}

export type ErasureStore = ReturnType<typeof createErasureStore>

/** Of any organisation, complete or not. */
export async function hasErasures(database: Database): Promise<boolean> {
  const [row] = await database
    .for(sharedOwner)
    .query<{ found: boolean }>(`SELECT EXISTS (SELECT FROM erasures) AS found`)
  return row!.found
}

/** An instance that was killed loses its work after this time; a living one extends it. Seconds. */
const holdSeconds = 20
const background = { timeoutMs: 60_000, background: true }

/** SQL of the table `erasures`. */
export function createErasureStore(database: Database) {
  const shared = database.for(sharedOwner)
  return {
    accept: (erasure: NewErasure): Promise<string> =>
      database.for(erasure.organisationId).transaction((transaction) => insert(transaction, erasure)),

    /** The next one that no instance works on. */
    async claim(): Promise<ClaimedErasure | undefined> {
      const [claimed] = await shared.query<ClaimedErasure>(
        `UPDATE erasures SET held_until = now() + make_interval(secs => $1)
          WHERE id = (SELECT id FROM erasures WHERE completed_at IS NULL AND held_until <= now()
                       ORDER BY held_until, id LIMIT 1 FOR UPDATE SKIP LOCKED)
          RETURNING id, organisation_id AS "organisationId", kind, subject_digest AS "subjectDigest",
            subject_sealed AS "subjectSealed", requested_at AS "requestedAt", requested_by AS "requestedBy"`,
        [holdSeconds],
        background,
      )
      return claimed
    },
    async hold(id: string): Promise<void> {
      await shared.execute(
        `UPDATE erasures SET held_until = now() + make_interval(secs => $2) WHERE id = $1 AND completed_at IS NULL`,
        [id, holdSeconds],
      )
    },
    async release(id: string, afterSeconds: number, failure: string | null): Promise<void> {
      await shared.execute(
        `UPDATE erasures SET held_until = now() + make_interval(secs => $2), failure = $3
          WHERE id = $1 AND completed_at IS NULL`,
        [id, afterSeconds, failure],
      )
    },
    /** After it, every writer of conversations sees the erasures that were accepted before: it waits for those that began earlier. */
    async waitForWriters(): Promise<void> {
      await shared.transaction(
        (transaction) => transaction.execute(`LOCK TABLE conversation_stores IN EXCLUSIVE MODE`),
        { timeoutMs: 10_000, background: true },
      )
    },

    add,
    async loadPlan(id: string): Promise<ErasurePlan> {
      const [row] = await shared.query<{ plan: ErasurePlan }>(`SELECT plan FROM erasures WHERE id = $1`, [id])
      return row?.plan ?? {}
    },
    async savePlan(id: string, plan: ErasurePlan, removed: RemovedCounts): Promise<void> {
      await shared.execute(
        `UPDATE erasures SET plan = $2::jsonb, removed = removed || $3::jsonb WHERE id = $1 AND completed_at IS NULL`,
        [id, JSON.stringify(plan), JSON.stringify(removed)],
      )
    },

    /** False: another instance has completed it, or it was requested again meanwhile. */
    complete: (claimed: ClaimedErasure, atMs: number, certify: Certify): Promise<boolean> =>
      shared.transaction((transaction) => complete(transaction, claimed, atMs, certify)),

    async load(organisationId: string, id: string): Promise<Erasure | undefined> {
      const rows = await database
        .for(organisationId)
        .query<Row>(`SELECT ${columns} FROM erasures WHERE organisation_id = $1 AND id = $2`, [organisationId, id])
      return rows.map(render)[0]
    },
    async loadPage(organisationId: string, limit: number, before: { atMs: number; id: string } | null) {
      const rows = await database.for(organisationId).query<Row>(
        `SELECT ${columns} FROM erasures WHERE organisation_id = $1
            AND ($2::timestamptz IS NULL OR (requested_at, id) < ($2, $3::uuid))
          ORDER BY requested_at DESC, id DESC LIMIT $4::int8`,
        [organisationId, before && new Date(before.atMs), before && before.id, limit + 1],
      )
      return { items: rows.slice(0, limit).map(render), hasMore: rows.length > limit }
    },
    async findLogEntries(ids: readonly string[]): Promise<Set<string>> {
      const rows = await shared.query<{ id: string }>(`SELECT id FROM admin_log WHERE id = ANY($1::uuid[])`, [ids])
      return new Set(rows.map(({ id }) => id))
    },
  }
}

/** Returns the id of the erasure: an open one of the same subject is extended to now instead. */
async function insert(transaction: Queryable, erasure: NewErasure): Promise<string> {
  const { organisationId, kind, subjectDigest, actor, requestedAtMs } = erasure
  const logEntryId = createUuid(requestedAtMs)
  const [row] = await transaction.query<{ id: string }>(
    `INSERT INTO erasures (id, organisation_id, kind, subject_digest, subject_sealed, requested_at, requested_by, log_entry_ids,
       held_until)
     VALUES ($1, $2, $3, $4, $5, $6, $7, ARRAY[$8::uuid], now())
     ON CONFLICT (organisation_id, subject_digest) WHERE completed_at IS NULL
       DO UPDATE SET requested_at = greatest(erasures.requested_at, excluded.requested_at),
         log_entry_ids = erasures.log_entry_ids || excluded.log_entry_ids
     RETURNING id`,
    [
      erasure.id,
      organisationId,
      kind,
      subjectDigest,
      erasure.subjectSealed,
      new Date(requestedAtMs),
      actor.name,
      logEntryId,
    ],
  )
  await recordAdminChange(transaction, {
    id: logEntryId,
    actor,
    atMs: requestedAtMs,
    action: 'erasure.requested',
    ...subjectOf(organisationId, row!.id),
    after: { kind, subjectDigest },
  })
  return row!.id
}

const subjectOf = (organisationId: string, id: string) => ({
  subjectType: 'erasure',
  subjectId: id,
  organisationId: organisationId as OrganisationId,
})

async function add(transaction: Queryable, id: string, added: RemovedCounts): Promise<void> {
  const [row] = await transaction.query<{ removed: RemovedCounts }>(
    `SELECT removed FROM erasures WHERE id = $1 FOR UPDATE`,
    [id],
  )
  if (!row) return
  const removed = { ...row.removed }
  for (const [name, part] of Object.entries(added)) {
    const known = removed[name as ErasedKind]
    const times = (side: 'from' | 'to') => [known?.[side], part[side]].flatMap((time) => time ?? []).toSorted()
    removed[name as ErasedKind] = {
      count: part.count + (known?.count ?? 0),
      from: times('from')[0] ?? null,
      to: times('to').at(-1) ?? null,
    }
  }
  await transaction.execute(`UPDATE erasures SET removed = $2::jsonb WHERE id = $1`, [id, JSON.stringify(removed)])
}

type Certify = (row: { removed: RemovedCounts; logEntryIds: string[] }) => ErasureCertificate

async function complete(transaction: Queryable, claimed: ClaimedErasure, atMs: number, certify: Certify) {
  const { id, organisationId, kind, subjectDigest, requestedAt, requestedBy } = claimed
  const [row] = await transaction.query<{ removed: RemovedCounts; logEntryIds: string[] }>(
    `SELECT removed, log_entry_ids AS "logEntryIds" FROM erasures
      WHERE id = $1 AND completed_at IS NULL AND requested_at = $2 FOR UPDATE`,
    [id, requestedAt],
  )
  if (!row) return false
  const logEntryId = createUuid(atMs)
  const certificate = certify({ ...row, logEntryIds: [...row.logEntryIds, logEntryId] })
  await recordAdminChange(transaction, {
    id: logEntryId,
    actor: { name: 'service', requestId: null },
    atMs,
    action: 'erasure.completed',
    ...subjectOf(organisationId, id),
    after: { kind, subjectDigest, requestedBy, removed: certificate.removed },
  })
  await transaction.execute(
    `UPDATE erasures SET completed_at = $2, certificate = $3::jsonb, log_entry_ids = $4::uuid[], subject_sealed = NULL,
       plan = '{}', failure = NULL WHERE id = $1`,
    [id, new Date(atMs), JSON.stringify(certificate), certificate.logEntryIds],
  )
  return true
}

type Row = Omit<Erasure, 'requestedAt' | 'completedAt' | 'state'> & { requestedAt: Date; completedAt: Date | null }

const columns = `id, organisation_id AS "organisationId", kind, subject_digest AS "subjectDigest", requested_by AS "requestedBy",
  requested_at AS "requestedAt", completed_at AS "completedAt", removed, failure, certificate`

const render = ({ requestedAt, completedAt, ...row }: Row): Erasure => ({
  ...row,
  state: completedAt ? 'completed' : 'running',
  requestedAt: requestedAt.toISOString(),
  completedAt: completedAt && completedAt.toISOString(),
})
