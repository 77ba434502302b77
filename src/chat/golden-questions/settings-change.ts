import { Temporal } from 'temporal-polyfill'
import type { GoldenSettingsBody, GoldenSettingsUpdate } from '../../contract/golden-settings.ts'

/** How the golden questions of a Space run, and what they must reach. Pure. */
export type GoldenSettingValues = Readonly<Omit<GoldenSettingsBody, 'nextRunAt' | 'version'>>

export const defaultGoldenSettings: GoldenSettingValues = Object.freeze({
  schedule: null,
  // Some hundred answers of a large model; a run of a small one costs cents.
  maximumCostUsd: 10,
  agentic: false,
  filter: null,
  passing: Object.freeze({ retrievalRecall: 1, citationPrecision: 0, citationRecall: 1, factShare: 1 }),
  gate: null,
})

/** Absent fields keep their values, also within `passing`. */
export function changeGoldenSettings(current: GoldenSettingValues, change: GoldenSettingsUpdate): GoldenSettingValues {
  const { schedule, maximumCostUsd, agentic, filter, passing, gate } = change
  return {
    schedule: schedule === undefined ? current.schedule : schedule,
    maximumCostUsd: maximumCostUsd === undefined ? current.maximumCostUsd : maximumCostUsd,
    agentic: agentic ?? current.agentic,
    filter: filter === undefined ? current.filter : filter,
    passing: {
      retrievalRecall: passing?.retrievalRecall ?? current.passing.retrievalRecall,
      citationPrecision: passing?.citationPrecision ?? current.passing.citationPrecision,
      citationRecall: passing?.citationRecall ?? current.passing.citationRecall,
      factShare: passing?.factShare ?? current.passing.factShare,
    },
    gate: gate === undefined ? current.gate : gate,
  }
}

/**
 * The first time after `afterMs` that the schedule names in the zone; null without a time. Where a clock change skips the time, it is
 * later by the skipped hour; where it repeats the time, the first one.
 */
export function nextRunAt(schedule: GoldenSettingValues['schedule'], timeZone: string, afterMs: number): number | null {
  if (!schedule || schedule.every === 'change') return null
  const now = Temporal.Instant.fromEpochMilliseconds(afterMs).toZonedDateTimeISO(timeZone)
  const plainTime = Temporal.PlainTime.from(schedule.time)
  const today = now.toPlainDate()
  const daysToWeekday = schedule.every === 'week' ? (schedule.weekday - today.dayOfWeek + 7) % 7 : 0
  const first = today.add({ days: daysToWeekday })
  const atMs = first.toZonedDateTime({ timeZone, plainTime }).epochMilliseconds
  if (atMs > afterMs) return atMs
  const following = first.add({ days: schedule.every === 'week' ? 7 : 1 })
  return following.toZonedDateTime({ timeZone, plainTime }).epochMilliseconds
}
