import type { GoldenSettingsBody, GoldenSettingsUpdate } from '../../contract/golden-settings.ts'
import type { StoreOf } from '../../platform/database/index.ts'
import { assertVersion, type Clock, versionOf } from '../../platform/kernel/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import type { Space } from '../spaces/index.ts'
import type { GoldenSettingsStore, StoredGoldenSettings } from './golden-settings.store.ts'
import { changeGoldenSettings, nextRunAt } from './settings-change.ts'

export type GoldenSettings = ReturnType<typeof createGoldenSettings>

export interface GoldenSettingsDependencies {
  store: StoreOf<Pick<GoldenSettingsStore, 'load' | 'update'>>
  timeZoneOf: (space: Space) => string
  clock: Clock
}

/** How the golden questions of Spaces run. */
export function createGoldenSettings({ store, timeZoneOf, clock }: GoldenSettingsDependencies) {
  return {
    load: (space: Space) => store(space.organisationId).load(space.id).then(render),
    /** Throws `space_not_found`. `ifMatch`: as `assertVersion` has it. */
    async update(
      space: Space,
      update: GoldenSettingsUpdate,
      actor: Actor,
      ifMatch?: string,
    ): Promise<GoldenSettingsBody> {
      const nowMs = clock.now()
      const stored = await store(space.organisationId).update(
        space,
        (current) => {
          assertVersion(ifMatch, current)
          const settings = changeGoldenSettings(current, update)
          return { settings, nextRunAt: nextRunAt(settings.schedule, timeZoneOf(space), nowMs) }
        },
        { actor, nowMs },
      )
      return render(stored)
    },
  }
}

function render({ settings, nextRunAt: atMs }: StoredGoldenSettings): GoldenSettingsBody {
  return {
    ...settings,
    nextRunAt: atMs === null ? null : new Date(atMs).toISOString(),
    version: versionOf(settings),
  }
}
