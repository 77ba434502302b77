import type { Database, Queryable } from '../../platform/database/index.ts'

const background = { timeoutMs: 60_000, background: true }
const resultsPerRound = 200

/** Results of golden runs whose answer had passages of the document. */
const quoting = `golden_results c JOIN golden_runs r ON r.id = c.run_id JOIN spaces s ON s.id = r.space_id
  WHERE s.organisation_id = $1 AND (c.detail->'retrieved' @> $2::jsonb OR c.detail->'cited' @> $2::jsonb)`

const without = (name: string) =>
  `jsonb_build_object('${name}', (SELECT coalesce(jsonb_agg(d), '[]') FROM jsonb_array_elements(detail->'${name}') d
    WHERE d->>'id' <> $3::text))`

/** Removes from results of golden runs the answers that passages of a document were given for. Their measures stay. */
export function createGoldenErasure(database: Database) {
  return {
    /** Removes some, and calls `onRemoved` with their number in the same transaction. False: none were left. */
    eraseSome: (
      organisationId: string,
      documentId: string,
      onRemoved: (transaction: Queryable, answers: number) => Promise<void>,
    ): Promise<boolean> =>
      database.for(organisationId).transaction(async (transaction) => {
        const answers = await transaction.execute(
          `UPDATE golden_results SET answer = NULL, detail = detail || ${without('retrieved')} || ${without('cited')}
            WHERE (run_id, place) IN (SELECT c.run_id, c.place FROM ${quoting} LIMIT ${resultsPerRound})`,
          [organisationId, JSON.stringify([{ id: documentId }]), documentId],
        )
        if (answers > 0) await onRemoved(transaction, answers)
        return answers > 0
      }, background),
    async countLeft(organisationId: string, documentId: string): Promise<number> {
      const [row] = await database
        .for(organisationId)
        .query<{ count: bigint }>(
          `SELECT count(*) AS count FROM ${quoting}`,
          [organisationId, JSON.stringify([{ id: documentId }])],
          background,
        )
      return Number(row!.count)
    },
  }
}
