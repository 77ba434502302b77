import { createUuid, type OrganisationId } from '../../platform/kernel/index.ts'
import type { Queryable } from '../../platform/database/index.ts'

/** Events on their way to webhooks. */

export interface OutboxEvent {
  eventId: string
  organisationId: OrganisationId
  kind: string
  /** The JSON text as it is signed and sent. */
  body: string
  /** Failed attempts so far. */
  attempts: number
}

export async function addToOutbox(
  transaction: Queryable,
  event: Omit<OutboxEvent, 'attempts' | 'eventId'> & { eventId?: string },
): Promise<void> {
  await transaction.execute(
    'insert into ledger_outbox (event_id, organisation_id, kind, body) values ($1, $2, $3, $4)',
    [event.eventId ?? createUuid(), event.organisationId, event.kind, event.body],
  )
}

/** Takes events that are due. They are due again after `claimMs` unless they are finished or postponed, because the process may die. */
export async function claimDue(database: Queryable, limit: number, claimMs: number): Promise<OutboxEvent[]> {
  const rows = await database.query<{
    event_id: string
    organisation_id: string
    kind: string
    body: string
    attempts: number
  }>(
    `update ledger_outbox set next_attempt_at = clock_timestamp() + $2::int8 * interval '1 millisecond'
     where event_id in (
       select event_id from ledger_outbox where finished_at is null and next_attempt_at <= clock_timestamp()
       order by next_attempt_at limit $1 for update skip locked)
     returning event_id, organisation_id, kind, body, attempts`,
    [limit, claimMs],
  )
  return rows.map((row) => ({
    eventId: row.event_id,
    organisationId: row.organisation_id as OrganisationId,
    kind: row.kind,
    body: row.body,
    attempts: row.attempts,
  }))
}

/** `failure` null: delivered. */
export async function finishEvent(database: Queryable, eventId: string, failure: string | null): Promise<void> {
  await database.execute(
    `update ledger_outbox set finished_at = clock_timestamp(), attempts = attempts + 1, failure = $2 where event_id = $1`,
    [eventId, failure],
  )
}

export async function putOffEvent(
  database: Queryable,
  eventId: string,
  delayMs: number,
  failure: string,
): Promise<void> {
  await database.execute(
    `update ledger_outbox set attempts = attempts + 1, failure = $3,
       next_attempt_at = clock_timestamp() + $2::int8 * interval '1 millisecond' where event_id = $1`,
    [eventId, delayMs, failure],
  )
}
