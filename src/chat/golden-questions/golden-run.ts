import type { GoldenRunMeasures, GoldenRunState, GoldenStopReason } from '../../contract/golden-runs.ts'
import type { OrganisationId, SpaceId } from '../../platform/kernel/index.ts'
import type { SpaceSnapshot } from './configuration.ts'
import type { GoldenSettingValues } from './settings-change.ts'

/** A run of the golden questions of a Space, with what it found. */
export interface GoldenRun {
  id: string
  spaceId: SpaceId
  organisationId: OrganisationId
  state: GoldenRunState
  reason: { code: GoldenStopReason; message: string } | null
  trigger: 'manual' | 'schedule'
  startedBy: string
  /** At the start. */
  space: SpaceSnapshot
  settings: GoldenSettingValues
  configuration: string
  measures: GoldenRunMeasures | null
  createdAt: number
  startedAt: number | null
  endedAt: number | null
}

/** Newest runs of a Space that are kept. With the largest questions and answers they take some hundred megabytes. */
export const maximumKeptRuns = 30

/** The queue of the corpus database. */
export const goldenRunJob = 'golden-run'
export const keyOfRun = (runId: string) => `${goldenRunJob}:${runId}`
