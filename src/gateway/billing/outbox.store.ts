import { createUuid, type OrganisationId } from '../../platform/kernel/index.ts'
import type { Queryable } from '../../platform/database/index.ts'

/** An event for the webhook of an organisation. */
export interface OutboxEvent {
  organisationId: OrganisationId
  kind: string
  /** The JSON text as it is signed and sent. */
  body: string
}

export async function addToOutbox(transaction: Queryable, event: OutboxEvent & { eventId?: string }): Promise<void> {
  await transaction.execute(
    'insert into ledger_outbox (event_id, organisation_id, kind, body) values ($1, $2, $3, $4)',
    [event.eventId ?? createUuid(), event.organisationId, event.kind, event.body],
  )
}
