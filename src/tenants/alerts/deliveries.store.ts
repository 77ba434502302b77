import type { Queryable } from '../../platform/database/index.ts'
import type { NewDelivery, StoredDelivery } from './port.ts'

/** Messages about alerts, on their way to a webhook or to e-mail addresses. */

export async function addDeliveries(transaction: Queryable, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return
  await transaction.execute(
    `insert into alert_deliveries (id, alert_id, event, channel, subject, body)
     select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[])`,
    [
      deliveries.map(({ id }) => id),
      deliveries.map(({ alertId }) => alertId),
      deliveries.map(({ event }) => event),
      deliveries.map(({ channel }) => channel),
      deliveries.map(({ subject }) => subject),
      deliveries.map(({ body }) => body),
    ],
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
