import type { OwnedDatabase } from '../../platform/database/index.ts'
import type { OrganisationId, SpaceId } from '../../platform/kernel/index.ts'

export interface SpaceRemoval {
  spaceId: SpaceId
  organisationId: OrganisationId
  /** Starts at 1 and counts the attempts of both passes. */
  attempt: number
  firstPassDone: boolean
}

export type SpaceRemovalStore = ReturnType<typeof createSpaceRemovalStore>

export function createSpaceRemovalStore(database: OwnedDatabase) {
  return {
    /** Takes one removal that is due. Other instances do not receive it before `leaseUntilMs`. */
    async takeDue(nowMs: number, leaseUntilMs: number): Promise<SpaceRemoval | undefined> {
      const [row] = await database.query<SpaceRemoval>(
        `UPDATE space_removals SET attempts = attempts + 1, next_attempt_at = $2
          WHERE space_id = (SELECT space_id FROM space_removals WHERE next_attempt_at <= $1
                             ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING space_id AS "spaceId", organisation_id AS "organisationId", attempts AS attempt,
                   first_pass_done AS "firstPassDone"`,
        [new Date(nowMs), new Date(leaseUntilMs)],
      )
      return row
    },
    async postpone(spaceId: string, untilMs: number, firstPassDone: boolean): Promise<void> {
      await database.execute(
        `UPDATE space_removals SET next_attempt_at = $2, first_pass_done = first_pass_done OR $3 WHERE space_id = $1`,
        [spaceId, new Date(untilMs), firstPassDone],
      )
    },
    async finish(spaceId: string): Promise<void> {
      await database.execute(`DELETE FROM space_removals WHERE space_id = $1`, [spaceId])
    },
  }
}
