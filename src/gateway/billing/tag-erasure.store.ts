import type { Database, Queryable } from '../../platform/database/index.ts'

/** The tag that calls get from the field `user`. */
const userKey = 'user'
const background = { timeoutMs: 60_000, background: true }

/** Replaces the value of `user` in the tags of an organisation. Sums and receipts stay, without the value. */
export function createTagErasure(database: Database) {
  return {
    erase: (
      organisationId: string,
      value: string,
      onRemoved: (transaction: Queryable, tags: number) => Promise<void>,
    ): Promise<void> =>
      database.for(organisationId).transaction(async (transaction) => {
        const tags = await transaction.execute(
          `UPDATE usage_tags SET value = 'erased-' || tag_id::text WHERE organisation_id = $1 AND key = $2 AND value = $3`,
          [organisationId, userKey, value],
        )
        if (tags > 0) await onRemoved(transaction, tags)
      }, background),
    /** Tags of calls that began until then, also of those that are not counted yet. */
    async countLeft(organisationId: string, value: string, until: Date): Promise<number> {
      const [row] = await database.for(organisationId).query<{ count: bigint }>(
        `SELECT (SELECT count(*) FROM usage_tags t WHERE t.organisation_id = $1 AND t.key = $2 AND t.value = $3
                   AND EXISTS (SELECT FROM usage_request_tags r
                                WHERE r.organisation_id = $1 AND r.tag_id = t.tag_id AND r.started_at <= $4))
           + (SELECT count(*) FROM usage_queued_tags q JOIN ledger_entries e USING (request_id)
               WHERE e.organisation_id = $1 AND q.tags->>$2 = $3 AND e.started_at <= $4) AS count`,
        [organisationId, userKey, value, until],
        background,
      )
      return Number(row!.count)
    },
  }
}
