import type { OwnedDatabase } from '../../platform/database/index.ts'

export interface AttemptRule {
  maximum: number
  /** A window begins with its first attempt. */
  windowMs: number
}

/** Counters of attempts, shared by all instances. A key is a SHA-256 of what is counted. */
export function createAttemptStore(database: OwnedDatabase) {
  return {
    /**
     * Counts an attempt in one statement, so that concurrent attempts on several instances cannot exceed the limit. An attempt above it
     * changes nothing.
     */
    async take(key: string, { maximum, windowMs }: AttemptRule, nowMs: number) {
      const [taken] = await database.query<{ windowEndsAt: Date }>(
        `INSERT INTO people_attempts AS a (key, attempts, window_ends_at) VALUES ($1, 1, $3)
         ON CONFLICT (key) DO UPDATE SET
           attempts = CASE WHEN a.window_ends_at <= $2 THEN 1 ELSE a.attempts + 1 END,
           window_ends_at = CASE WHEN a.window_ends_at <= $2 THEN excluded.window_ends_at ELSE a.window_ends_at END
         WHERE a.window_ends_at <= $2 OR a.attempts < $4
         RETURNING window_ends_at AS "windowEndsAt"`,
        [key, new Date(nowMs), new Date(nowMs + windowMs), maximum],
      )
      if (taken) return { isAllowed: true, ...taken }
      const [full] = await database.query<{ windowEndsAt: Date }>(
        `SELECT window_ends_at AS "windowEndsAt" FROM people_attempts WHERE key = $1`,
        [key],
      )
      return { isAllowed: false, windowEndsAt: full?.windowEndsAt ?? new Date(nowMs) }
    },

    /** Takes an attempt out of the count of its window. */
    async giveBack(key: string, windowEndsAt: Date): Promise<void> {
      await database.execute(
        `UPDATE people_attempts SET attempts = attempts - 1 WHERE key = $1 AND window_ends_at = $2 AND attempts > 0`,
        [key, windowEndsAt],
      )
    },

    async forget(keys: readonly string[]): Promise<void> {
      await database.execute(`DELETE FROM people_attempts WHERE key = ANY($1::text[])`, [[...keys]])
    },
  }
}

export type AttemptStore = ReturnType<typeof createAttemptStore>
