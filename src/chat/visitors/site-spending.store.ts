import type { OwnedDatabase } from '../../platform/database/index.ts'
import type { SpaceId } from '../../platform/kernel/index.ts'

/** The day of a Space whose visitors are counted, as the organisation's time zone has it: `2026-11-24`. */
export interface SiteDay {
  spaceId: SpaceId
  day: string
}

export interface DayState {
  heldPicoUsd: bigint
  spentPicoUsd: bigint
  capPicoUsd: bigint
}

export interface DayCounts extends Omit<DayState, 'capPicoUsd'> {
  visits: number
  messages: number
}

export type SpendingStore = ReturnType<typeof createSpendingStore>

/** True for a site that may spend: of this generation, on, not paused, and its Space published. */
const isOpen = 's.enabled AND NOT s.paused AND p.published'
/** What the cap still covers of an amount. */
const covered = `least($4::int8, greatest(0::int8, s.daily_cap_pico_usd - d.held_pico_usd - d.spent_pico_usd))`
const state = `d.held_pico_usd AS "heldPicoUsd", d.spent_pico_usd AS "spentPicoUsd"`

export function createSpendingStore(database: OwnedDatabase) {
  return {
    /** Counts a question. Undefined: the site is not open in this generation, whatever this instance has in memory. */
    async countMessage({ spaceId, day }: SiteDay, generation: number): Promise<DayState | undefined> {
      const [row] = await database.query<DayState>(
        `INSERT INTO site_days AS d (space_id, day, ceiling_pico_usd, messages)
         SELECT s.space_id, $2::date, s.daily_cap_pico_usd, 1 FROM sites s JOIN spaces p ON p.id = s.space_id
          WHERE s.space_id = $1 AND s.generation = $3 AND ${isOpen}
         ON CONFLICT (space_id, day) DO UPDATE SET messages = d.messages + 1,
           ceiling_pico_usd = greatest(d.ceiling_pico_usd, excluded.ceiling_pico_usd)
         RETURNING ${state}, (SELECT daily_cap_pico_usd FROM sites WHERE space_id = $1) AS "capPicoUsd"`,
        [spaceId, day, generation],
      )
      return row
    },
    /**
     * Grants an answer as much of the amount as the cap covers, in one statement: the row of the day is locked, so the grants of all
     * instances follow each other. `countMessage` has made the row. Undefined: the site is no longer open in this generation.
     */
    async grant(
      { spaceId, day }: SiteDay,
      { generation, requestId, amountPicoUsd }: { generation: number; requestId: string; amountPicoUsd: bigint },
    ): Promise<(DayState & { grantedPicoUsd: bigint }) | undefined> {
      const [row] = await database.query<DayState & { grantedPicoUsd: bigint }>(
        `WITH granted AS (
           UPDATE site_days d SET held_pico_usd = d.held_pico_usd + ${covered}, granted_pico_usd = ${covered},
             ceiling_pico_usd = greatest(d.ceiling_pico_usd, s.daily_cap_pico_usd)
             FROM sites s JOIN spaces p ON p.id = s.space_id
            WHERE d.space_id = $1 AND d.day = $2::date AND s.space_id = $1 AND s.generation = $3 AND ${isOpen}
           RETURNING d.granted_pico_usd AS amount, ${state}, s.daily_cap_pico_usd AS "capPicoUsd"),
         answer AS (
           INSERT INTO site_answers AS a (request_id, space_id, day, held_pico_usd)
           SELECT $5, $1, $2::date, amount FROM granted WHERE amount > 0
           ON CONFLICT (request_id) DO UPDATE SET held_pico_usd = a.held_pico_usd + excluded.held_pico_usd)
         SELECT amount AS "grantedPicoUsd", "heldPicoUsd", "spentPicoUsd", "capPicoUsd" FROM granted`,
        [spaceId, day, generation, amountPicoUsd, requestId],
      )
      return row
    },
    /** Turns what an answer was granted into what it cost. Once: a repeated call finds no row. */
    async closeAnswer(spaceId: SpaceId, requestId: string, spentPicoUsd: bigint): Promise<void> {
      await database.execute(
        `WITH over AS (DELETE FROM site_answers WHERE request_id = $2 AND space_id = $1 RETURNING day, held_pico_usd)
         UPDATE site_days d SET held_pico_usd = d.held_pico_usd - over.held_pico_usd, spent_pico_usd = d.spent_pico_usd + $3::int8
           FROM over WHERE d.space_id = $1 AND d.day = over.day`,
        [spaceId, requestId, spentPicoUsd],
      )
    },
    async countVisits({ spaceId, day }: SiteDay, visits: number): Promise<void> {
      await database.execute(
        `INSERT INTO site_days AS d (space_id, day, ceiling_pico_usd, visits)
         SELECT s.space_id, $2::date, s.daily_cap_pico_usd, $3::int4 FROM sites s WHERE s.space_id = $1
         ON CONFLICT (space_id, day) DO UPDATE SET visits = d.visits + $3::int4`,
        [spaceId, day, visits],
      )
    },
    async loadDay({ spaceId, day }: SiteDay): Promise<DayCounts | undefined> {
      const [row] = await database.query<DayCounts>(
        `SELECT ${state}, visits, messages FROM site_days d WHERE space_id = $1 AND day = $2::date`,
        [spaceId, day],
      )
      return row
    },
    /** Removes what days before this one have left. */
    async removeBefore(day: string): Promise<void> {
      await database.execute(`DELETE FROM site_answers WHERE day < $1::date`, [day])
      await database.execute(`DELETE FROM site_days WHERE day < $1::date`, [day])
    },
  }
}
