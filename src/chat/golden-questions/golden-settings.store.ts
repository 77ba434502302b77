import type { OwnedDatabase, Queryable } from '../../platform/database/index.ts'
import type { OrganisationId, SpaceId } from '../../platform/kernel/index.ts'
import { type Actor, changedFields, recordAdminChange } from '../../tenants/operators/index.ts'
import { lockSpace } from '../spaces/index.ts'
import { defaultGoldenSettings, type GoldenSettingValues } from './settings-change.ts'

export interface StoredGoldenSettings {
  settings: GoldenSettingValues
  nextRunAt: number | null
}

export type GoldenSettingsStore = ReturnType<typeof createGoldenSettingsStore>

export function createGoldenSettingsStore(database: OwnedDatabase) {
  return {
    load: (spaceId: string) => loadRow(database, spaceId),
    /**
     * Takes a Space whose run is due and sets its next one, so that no other instance takes it. A crash after it leaves out this run.
     * Undefined: none is due.
     */
    takeDue: (nowMs: number, nextOf: (settings: GoldenSettingValues, spaceId: string) => number | null) =>
      database.transaction(async (transaction) => {
        const [row] = await transaction.query<{ spaceId: string; settings: Partial<GoldenSettingValues> }>(
          `SELECT space_id AS "spaceId", settings FROM golden_settings WHERE next_run_at <= $1
            ORDER BY next_run_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
          [new Date(nowMs)],
        )
        if (!row) return undefined
        const next = nextOf({ ...defaultGoldenSettings, ...row.settings }, row.spaceId)
        await transaction.execute(`UPDATE golden_settings SET next_run_at = $2 WHERE space_id = $1`, [
          row.spaceId,
          next === null ? null : new Date(next),
        ])
        return row.spaceId
      }),
    /** Spaces whose runs begin after changes. */
    loadRunAfterChanges: async () => {
      const rows = await database.query<{ id: string }>(
        `SELECT space_id AS id FROM golden_settings WHERE settings->'schedule'->>'every' = 'change'`,
      )
      return rows.map(({ id }) => id)
    },
    /** Throws `space_not_found`. */
    update: (
      space: { id: SpaceId; organisationId: OrganisationId },
      change: (current: GoldenSettingValues) => StoredGoldenSettings,
      { actor, nowMs }: { actor: Actor; nowMs: number },
    ) =>
      database.transaction(async (transaction) => {
        await lockSpace(transaction, space.id)
        const current = await loadRow(transaction, space.id)
        const next = change(current.settings)
        const changed = changedFields(current.settings, next.settings)
        if (!changed) return current
        await transaction.execute(
          `INSERT INTO golden_settings (space_id, organisation_id, settings, next_run_at) VALUES ($1, $2, $3::jsonb, $4)
           ON CONFLICT (space_id) DO UPDATE SET settings = excluded.settings, next_run_at = excluded.next_run_at`,
          [
            space.id,
            space.organisationId,
            JSON.stringify(next.settings),
            next.nextRunAt === null ? null : new Date(next.nextRunAt),
          ],
        )
        await recordAdminChange(transaction, {
          actor,
          atMs: nowMs,
          action: 'golden_settings.updated',
          subjectType: 'space',
          subjectId: space.id,
          organisationId: space.organisationId,
          ...changed,
        })
        return next
      }),
  }
}

async function loadRow(queryable: Queryable, spaceId: string): Promise<StoredGoldenSettings> {
  const [row] = await queryable.query<{ settings: Partial<GoldenSettingValues>; nextRunAt: Date | null }>(
    `SELECT settings, next_run_at AS "nextRunAt" FROM golden_settings WHERE space_id = $1`,
    [spaceId],
  )
  // A row that is older than a setting gets its default.
  return {
    settings: { ...defaultGoldenSettings, ...row?.settings },
    nextRunAt: row?.nextRunAt?.getTime() ?? null,
  }
}
