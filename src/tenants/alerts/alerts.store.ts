import { type AlertKind, alertKinds } from '../../contract/alerts.ts'
import { columnsOf, type OwnedDatabase, type Queryable, type SqlValue } from '../../platform/database/index.ts'
import { createUuid } from '../../platform/kernel/index.ts'
import type { Alert, AlertCondition, NewDelivery, StoredDelivery } from './port.ts'

const columns = `id, kind, subject, organisation_id as "organisationId", severity, title, details, raised_at as "raisedAt", resolved_at as "resolvedAt"`
/** Open alerts of one kind; further conditions wait until others are over. */
const maximumOpenPerKind = 500

export interface Transitions {
  raised: Alert[]
  resolved: Alert[]
}

/**
 * Makes the open alerts of a kind equal to its conditions, and queues the messages about what changed in the same transaction. A condition
 * whose alert is open raises none, whichever instance found it first.
 */
export function applyConditions(
  database: OwnedDatabase,
  kind: AlertKind,
  conditions: readonly AlertCondition[],
  messagesOf: (transitions: Transitions) => NewDelivery[],
): Promise<Transitions> {
  const found = conditions.slice(0, maximumOpenPerKind)
  return database.transaction(async (transaction) => {
    const raised = await transaction.query<Alert>(
      `insert into alerts (id, kind, subject, organisation_id, severity, title, details, raised_at)
       select id, $1, subject, organisation_id, severity, title, details, clock_timestamp()
       from unnest($2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::jsonb[])
         as c (id, subject, organisation_id, severity, title, details)
       order by subject on conflict (kind, subject) where resolved_at is null do nothing returning ${columns}`,
      [
        kind,
        ...columnsOf(
          found,
          () => createUuid(),
          'subject',
          ({ organisationId }) => organisationId ?? null,
          'severity',
          'title',
          ({ details }) => JSON.stringify(details),
        ),
      ],
    )
    const resolved = await transaction.query<Alert>(
      `update alerts set resolved_at = clock_timestamp()
       where kind = $1 and resolved_at is null and subject <> all($2::text[]) returning ${columns}`,
      [kind, found.map(({ subject }) => subject)],
    )
    const transitions = { raised, resolved }
    await addDeliveries(transaction, messagesOf(transitions))
    return transitions
  })
}

/** Takes the turn to evaluate or to audit the ledger, unless another instance did within `everyMs`. */
export async function takeTurn(
  database: Queryable,
  turn: 'evaluated_at' | 'ledger_audit_at',
  everyMs: number,
): Promise<boolean> {
  const taken = await database.execute(
    `update alert_settings set ${turn} = clock_timestamp()
     where ${turn} < clock_timestamp() - $1::int8 * interval '1 millisecond'`,
    [everyMs],
  )
  return taken > 0
}

/** After an audit that has failed: the next instance takes the turn at once. */
export async function giveAuditTurnBack(database: Queryable): Promise<void> {
  await database.execute(`update alert_settings set ledger_audit_at = '-infinity'`)
}

export interface AlertFilter {
  state?: 'open' | 'resolved' | undefined
  organisationId?: string | undefined
  kind?: AlertKind | undefined
  limit: number
  after?: { atMs: number; id: string } | undefined
}

/** Newest first. */
export function loadAlerts(database: Queryable, filter: AlertFilter): Promise<Alert[]> {
  const { state, organisationId, kind, limit, after } = filter
  const parameters: SqlValue[] = [limit]
  const conditions: string[] = []
  const add = (condition: (place: string) => string, value: SqlValue) => {
    parameters.push(value)
    conditions.push(condition(`$${parameters.length}`))
  }
  if (state !== undefined) conditions.push(`resolved_at is ${state === 'open' ? '' : 'not '}null`)
  if (organisationId !== undefined) add((place) => `organisation_id = ${place}::uuid`, organisationId)
  if (kind !== undefined) add((place) => `kind = ${place}`, kind)
  if (after) {
    parameters.push(new Date(after.atMs), after.id)
    conditions.push(
      `(date_trunc('milliseconds', raised_at), id) < ($${parameters.length - 1}::timestamptz, $${parameters.length}::uuid)`,
    )
  }
  return database.query<Alert>(
    `select ${columns} from alerts ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}
     order by date_trunc('milliseconds', raised_at) desc, id desc limit $1`,
    parameters,
  )
}

export async function countOpenAlerts(database: Queryable): Promise<number> {
  const [row] = await database.query<{ open: bigint }>(
    'select count(*) as open from alerts where resolved_at is null and kind = any($1::text[])',
    [[...alertKinds]],
  )
  return Number(row!.open)
}

const keptDays = 365
const tidyRows = 5_000

/** Deletes a bounded number of alerts that were resolved a year ago, and of old messages. */
export async function tidyAlerts(database: Queryable): Promise<void> {
  for (const [table, column] of [
    ['alerts', 'resolved_at'],
    ['alert_deliveries', 'finished_at'],
    ['alert_disks', 'seen_at'],
    ['alert_certificates', 'seen_at'],
  ] as const) {
    await database.execute(
      `delete from ${table} where ctid = any(array(
         select ctid from ${table} where ${column} < now() - $1::int8 * interval '1 day' limit $2))`,
      [keptDays, tidyRows],
      { background: true },
    )
  }
}

/** Findings of a system audit that an operator ran, in the ledger and in other areas. */
export async function recordAudit(database: Queryable, ledger: number, others: number): Promise<void> {
  await database.execute(
    'update alert_settings set ledger_findings = $1, audit_findings = $2, audited_at = clock_timestamp()',
    [ledger, others],
  )
}

/** Findings of a scheduled audit. The other areas are too expensive for a schedule. */
export async function recordLedgerAudit(database: Queryable, findings: number): Promise<void> {
  await database.execute('update alert_settings set ledger_findings = $1', [findings])
}

/** Of the last audit of each area. */
export async function loadAuditFindings(database: Queryable): Promise<number> {
  const [row] = await database.query<{ findings: number }>(
    'select audit_findings + ledger_findings as findings from alert_settings',
  )
  return row?.findings ?? 0
}

export interface Disk {
  host: string
  folder: string
  freeBytes: number
  totalBytes: number
}

export async function recordDisk(database: Queryable, disk: Disk): Promise<void> {
  await database.execute(
    `insert into alert_disks (host, folder, free_bytes, total_bytes, seen_at) values ($1, $2, $3, $4, clock_timestamp())
     on conflict (host, folder) do update set free_bytes = excluded.free_bytes, total_bytes = excluded.total_bytes, seen_at = excluded.seen_at`,
    [disk.host, disk.folder, BigInt(disk.freeBytes), BigInt(disk.totalBytes)],
    { background: true },
  )
}

/** Disks that a process reported within `withinMs`. */
export function loadDisks(database: Queryable, withinMs: number): Promise<Disk[]> {
  return database.query<Disk>(
    `select host, folder, free_bytes::float8 as "freeBytes", total_bytes::float8 as "totalBytes" from alert_disks
     where seen_at > clock_timestamp() - $1::int8 * interval '1 millisecond' order by host, folder`,
    [withinMs],
  )
}

export interface Certificate {
  host: string
  endsAt: Date
}

export async function recordCertificate(database: Queryable, { host, endsAt }: Certificate): Promise<void> {
  await database.execute(
    `insert into alert_certificates (host, ends_at, seen_at) values ($1, $2, clock_timestamp())
     on conflict (host) do update set ends_at = excluded.ends_at, seen_at = excluded.seen_at`,
    [host, endsAt],
    { background: true },
  )
}

/** Certificates that a process saw within `withinMs`. */
export function loadCertificates(database: Queryable, withinMs: number): Promise<Certificate[]> {
  return database.query<Certificate>(
    `select host, ends_at as "endsAt" from alert_certificates
     where seen_at > clock_timestamp() - $1::int8 * interval '1 millisecond' order by host`,
    [withinMs],
  )
}

/** Messages about alerts, on their way to a webhook or to e-mail addresses. */

export async function addDeliveries(transaction: Queryable, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return
  await transaction.execute(
    `insert into alert_deliveries (id, alert_id, event, channel, subject, body)
     select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[])`,
    columnsOf(deliveries, 'id', 'alertId', 'event', 'channel', 'subject', 'body'),
  )
}

/** Sends a message again, whether it was delivered or given up. False: there is no such message. */
export async function resendDelivery(database: Queryable, id: string): Promise<boolean> {
  const found = await database.execute(
    `update alert_deliveries set finished_at = null, attempts = 0, failure = null, next_attempt_at = clock_timestamp()
     where id = $1::uuid`,
    [id],
  )
  return found > 0
}

/** Newest first. */
export function loadDeliveries(
  database: Queryable,
  limit: number,
  after: { atMs: number; id: string } | undefined,
): Promise<StoredDelivery[]> {
  return database.query<StoredDelivery>(
    `select id, alert_id as "alertId", event, channel, subject, attempts, created_at as "createdAt",
       next_attempt_at as "nextAttemptAt", finished_at as "finishedAt", failure
     from alert_deliveries
     where $2::timestamptz is null or (date_trunc('milliseconds', created_at), id) < ($2::timestamptz, $3::uuid)
     order by date_trunc('milliseconds', created_at) desc, id desc limit $1`,
    [limit, after ? new Date(after.atMs) : null, after?.id ?? null],
  )
}
