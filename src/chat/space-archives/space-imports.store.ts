import { type Database, isForeignKeyViolation } from '../../platform/database/index.ts'
import { AppError, type OrganisationId, type SpaceId, sharedOwner } from '../../platform/kernel/index.ts'
import { type Actor, recordAdminChange } from '../../tenants/operators/index.ts'
import { type GoldenQuestion, insertGoldenQuestions } from '../golden-questions/index.ts'
import { insertToolServers, type ToolServer } from '../space-tools/index.ts'
import type { Space, SpaceStore } from '../spaces/index.ts'

export type SpaceImportStore = ReturnType<typeof createSpaceImportStore>

/**
 * The row of `space_removals` of an import in progress. The Space is not in the database until its import is complete; where the import
 * fails, or its process is killed, the row becomes due and the documents are removed as those of a deleted Space.
 */
export function createSpaceImportStore(database: Database, spaces: Pick<SpaceStore, 'insertWithin'>) {
  return {
    async begin(id: SpaceId, organisationId: OrganisationId, nowMs: number, leaseUntilMs: number): Promise<void> {
      await database.for(organisationId).execute(
        `INSERT INTO space_removals (space_id, organisation_id, removed_at, attempts, first_pass_done, next_attempt_at)
         VALUES ($1, $2, $3, 0, false, $4)`,
        [id, organisationId, new Date(nowMs), new Date(leaseUntilMs)],
      )
    },
    /** False: the removal has begun, since this process did not renew in time. */
    async renew(id: SpaceId, leaseUntilMs: number): Promise<boolean> {
      const renewed = await database
        .for(sharedOwner)
        .execute(`UPDATE space_removals SET next_attempt_at = $2 WHERE space_id = $1 AND attempts = 0`, [
          id,
          new Date(leaseUntilMs),
        ])
      return renewed === 1
    },
    /** Makes the removal due at once. */
    async abandon(id: SpaceId, nowMs: number): Promise<void> {
      await database
        .for(sharedOwner)
        .execute(`UPDATE space_removals SET next_attempt_at = $2 WHERE space_id = $1 AND attempts = 0`, [
          id,
          new Date(nowMs),
        ])
    },
    /** Imports of an earlier process: only the sole owner of the database may call it, before it accepts requests. */
    async abandonAll(nowMs: number): Promise<void> {
      await database
        .for(sharedOwner)
        .execute(`UPDATE space_removals SET next_attempt_at = $1 WHERE attempts = 0 AND next_attempt_at > $1`, [
          new Date(nowMs),
        ])
    },
    /** Adds the Space with its golden questions and tool servers. False: the removal has begun, and nothing was added. Throws `organisation_not_found`. */
    complete(
      space: Space,
      { questions, toolServers }: { questions: readonly GoldenQuestion[]; toolServers: readonly ToolServer[] },
      { actor, facts }: { actor: Actor; facts: Record<string, unknown> },
    ): Promise<boolean> {
      return database
        .for(space.organisationId)
        .transaction(async (transaction) => {
          const kept = await transaction.execute(`DELETE FROM space_removals WHERE space_id = $1 AND attempts = 0`, [
            space.id,
          ])
          if (kept === 0) return false
          await spaces.insertWithin(transaction, space, actor)
          await insertGoldenQuestions(transaction, questions)
          await insertToolServers(transaction, toolServers)
          await recordAdminChange(transaction, {
            actor,
            atMs: space.createdAt,
            action: 'space.imported',
            subjectType: 'space',
            subjectId: space.id,
            organisationId: space.organisationId,
            after: { name: space.name, ...facts },
          })
          return true
        })
        .catch((error: unknown) => {
          if (!isForeignKeyViolation(error)) throw error
          throw new AppError('organisation_not_found', `There is no organisation ${space.organisationId}.`, {
            cause: error,
          })
        })
    },
    recordExport: (space: Space, actor: Actor, nowMs: number) => recordExport(database, space, actor, nowMs),
  }
}

function recordExport(
  database: Database,
  { id, organisationId, name }: Space,
  actor: Actor,
  nowMs: number,
): Promise<void> {
  return recordAdminChange(database.for(organisationId), {
    actor,
    atMs: nowMs,
    action: 'space.exported',
    subjectType: 'space',
    subjectId: id,
    organisationId,
    after: { name },
  })
}
