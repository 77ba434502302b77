import type { Database, OwnedDatabase, Queryable, SqlValue } from '../../platform/database/index.ts'
import { type Clock, createUuid, isUuid, type OrganisationId, sharedOwner } from '../../platform/kernel/index.ts'
import type {
  Actor,
  AdminLog,
  AdminLogEntry,
  AdminLogFilter,
  AdminLogSelection,
  AdminLogSubject,
  NewAdminLogEntry,
} from './admin-log.ts'

/** Writes one entry. Call it inside the transaction of the change, so that both are committed or neither. */
export async function recordAdminChange(transaction: Queryable, entry: NewAdminLogEntry): Promise<void> {
  await transaction.execute(
    `INSERT INTO admin_log (id, at, actor, request_id, action, subject_type, subject_id, organisation_id, before, after, person_id, session_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10::jsonb, $11, $12) ON CONFLICT (id) DO NOTHING`,
    [
      entry.id ?? createUuid(entry.atMs),
      new Date(entry.atMs),
      entry.actor.name,
      entry.actor.requestId,
      entry.action,
      entry.subjectType,
      entry.subjectId,
      entry.organisationId,
      entry.before ? JSON.stringify(entry.before) : null,
      entry.after ? JSON.stringify(entry.after) : null,
      entry.actor.personId ?? null,
      entry.actor.sessionId ?? null,
    ],
  )
}

/** `recordAdminChange` for subjects of one type. */
export function adminChangesOf<Subject>(describe: (subject: Subject) => AdminLogSubject) {
  return (
    transaction: Queryable,
    actor: Actor,
    atMs: number,
    action: NewAdminLogEntry['action'],
    subject: Subject,
    change: Pick<NewAdminLogEntry, 'before' | 'after'>,
  ) => recordAdminChange(transaction, { actor, atMs, action, ...describe(subject), ...change })
}

type Row = Omit<AdminLogEntry, 'subjectName' | 'organisationName'>

const columns = `id, at, actor, request_id AS "requestId", action, subject_type AS "subjectType", subject_id AS "subjectId",
  organisation_id AS "organisationId", before, after, person_id AS "personId", session_id AS "sessionId"`

/** A filter whose entries are rare may read much of the log. */
const pageTimeoutMs = 10_000
const exportTimeoutMs = 60_000
/** Of an export, which holds one page in memory. */
const entriesPerPage = 100

export function createAdminLog({ database, clock }: { database: Database; clock: Clock }): AdminLog {
  return {
    async loadPage(filter) {
      const own = database.for(filter.organisationId ?? sharedOwner)
      const { where, parameters } = conditionsOf(filter, placeOf(filter), '<')
      const rows = await own.query<Row>(
        `SELECT ${columns} FROM admin_log ${where} ORDER BY at DESC, id DESC LIMIT ${filter.limit + 1}`,
        parameters,
        { timeoutMs: pageTimeoutMs },
      )
      const entries = rows.slice(0, filter.limit)
      const last = entries.at(-1)
      return {
        entries: await withNames(own, entries),
        nextCursor: rows.length > filter.limit && last ? `${last.at.getTime()}.${last.id}` : null,
      }
    },
    async export(actor, format, selection) {
      const nowMs = clock.now()
      const own = database.for(selection.organisationId ?? sharedOwner)
      await recordExport(own, actor, nowMs, { format, ...selection })
      const to = selection.to === undefined ? nowMs : Math.min(nowMs, Date.parse(selection.to))
      return loadAll(own, { ...selection, to: new Date(to).toISOString() })
    },
  }
}

function recordExport(
  database: OwnedDatabase,
  actor: Actor,
  atMs: number,
  filter: AdminLogSelection & { format: string },
) {
  const { organisationId, ...after } = filter
  return recordAdminChange(database, {
    actor,
    atMs,
    action: 'admin_log.exported',
    subjectType: 'admin_log',
    subjectId: organisationId ?? 'all',
    organisationId: (organisationId ?? null) as OrganisationId | null,
    after: Object.fromEntries(Object.entries(after).filter(([, value]) => value !== undefined)),
  })
}

async function* loadAll(database: OwnedDatabase, selection: AdminLogSelection): AsyncGenerator<AdminLogEntry[]> {
  for (let place: Place | undefined; ;) {
    const { where, parameters } = conditionsOf(selection, place, '>')
    const rows = await database.query<Row>(
      `SELECT ${columns} FROM admin_log ${where} ORDER BY at, id LIMIT ${entriesPerPage}`,
      parameters,
      { timeoutMs: exportTimeoutMs, background: true },
    )
    if (rows.length > 0) yield withNames(database, rows)
    place = rows.at(-1)
    if (rows.length < entriesPerPage) return
  }
}

type Place = Pick<AdminLogEntry, 'at' | 'id'>

function placeOf({ cursor }: AdminLogFilter): Place | undefined {
  const [atMs, id] = cursor?.split('.') ?? []
  return id === undefined ? undefined : { at: new Date(Number(atMs)), id }
}

/** Only the given conditions, so that the planner can choose the index of the narrowest one. */
function conditionsOf(
  filter: AdminLogSelection,
  place: Place | undefined,
  direction: '<' | '>',
): { where: string; parameters: SqlValue[] } {
  const parameters: SqlValue[] = []
  const conditions: string[] = []
  const add = (condition: (name: string) => string, value: SqlValue | undefined) => {
    if (value === undefined) return
    parameters.push(value)
    conditions.push(condition(`$${parameters.length}`))
  }
  add((value) => `organisation_id = ${value}::uuid`, filter.organisationId)
  add((value) => `actor = ${value}`, filter.actor)
  add((value) => `action = ${value}`, filter.action)
  add((value) => `subject_type = ${value}`, filter.subjectType)
  add((value) => `subject_id = ${value}`, filter.subjectId)
  add((value) => `at >= ${value}`, filter.from === undefined ? undefined : new Date(filter.from))
  add((value) => `at < ${value}`, filter.to === undefined ? undefined : new Date(filter.to))
  if (place) {
    parameters.push(place.at, place.id)
    conditions.push(`(at, id) ${direction} ($${parameters.length - 1}, $${parameters.length}::uuid)`)
  }
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, parameters }
}

/** Adds the current names of organisations, Spaces and people. What has no name takes that of its Space. */
async function withNames(database: Queryable, rows: readonly Row[]): Promise<AdminLogEntry[]> {
  const idsOf = (type: string) =>
    rows.flatMap(({ subjectType, subjectId }) => (subjectType === type && isUuid(subjectId) ? [subjectId] : []))
  const organisations = [...idsOf('organisation'), ...rows.flatMap(({ organisationId }) => organisationId ?? [])]
  const spaces = [...idsOf('space'), ...rows.flatMap((row) => spaceOf(row) ?? [])]
  const found = await database.query<{ id: string; name: string }>(
    `SELECT id, name FROM organisations WHERE id = ANY($1::uuid[])
     UNION ALL SELECT id, name FROM spaces WHERE id = ANY($2::uuid[])
     UNION ALL SELECT id, email FROM people WHERE id = ANY($3::uuid[])`,
    [[...new Set(organisations)], [...new Set(spaces)], [...new Set(idsOf('person'))]],
  )
  const names = new Map(found.map(({ id, name }) => [id, name]))
  return rows.map((row) => ({
    ...row,
    subjectName: names.get(row.subjectId) ?? nameIn(row) ?? names.get(spaceOf(row) ?? '') ?? null,
    organisationName: (row.organisationId && names.get(row.organisationId)) ?? null,
  }))
}

function nameIn({ before, after }: Row): string | null {
  const name = after?.['email'] ?? before?.['email'] ?? after?.['name'] ?? before?.['name']
  return typeof name === 'string' ? name : null
}

function spaceOf({ before, after }: Row): string | undefined {
  const id = after?.['spaceId'] ?? before?.['spaceId']
  return typeof id === 'string' && isUuid(id) ? id : undefined
}

/** Entries that one transaction removes. Few on the embedded engine, whose one connection is occupied meanwhile. */
export const entriesPerRound = { embedded: 200, postgres: 2_000 }
/** Any number that no other advisory lock of the database has. */
const lockKey = 7_041_994_291n

/** Removes the oldest entries of before that time. False: none are left, or another instance removes some now. */
export function removeOldEntries(database: OwnedDatabase, before: Date): Promise<boolean> {
  const most = entriesPerRound[database.engine]
  return database.transaction(
    async (transaction) => {
      const [lock] = await transaction.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [
        lockKey,
      ])
      if (!lock!.locked) return false
      const removed = await transaction.execute(
        `DELETE FROM admin_log WHERE id IN (
           SELECT id FROM admin_log WHERE at < $1 ORDER BY at, id LIMIT $2::int8)`,
        [before, most],
      )
      return removed === most
    },
    { timeoutMs: 60_000, background: true },
  )
}
