import type { GoldenSettingsBody } from '@contract/golden-settings.ts'

/** The settings as the form holds them: shares in percent, an empty number for none. */
export interface SettingsDraft {
  every: 'never' | 'change' | 'day' | 'week'
  weekday: number
  time: string
  maximumCostUsd: number | ''
  agentic: boolean
  filter: GoldenSettingsBody['filter']
  passing: Record<PassingMeasure, number | ''>
  hasGate: boolean
  /** Empty: the gate does not look at the measure. */
  gate: Record<GateMeasure, number | ''>
}

export type PassingMeasure = keyof GoldenSettingsBody['passing']
export type GateMeasure = keyof NonNullable<GoldenSettingsBody['gate']>

export const passingMeasures = [
  'retrievalRecall',
  'citationRecall',
  'citationPrecision',
  'factShare',
] as const satisfies readonly PassingMeasure[]

export const gateMeasures = [
  'passedShare',
  'retrievalHitRate',
  'retrievalRecall',
  'citationPrecision',
  'citationRecall',
  'factShare',
  'abstentionAccuracy',
] as const satisfies readonly GateMeasure[]

/** At night, when few people ask. */
const defaultTime = '02:30'
const defaultPassedShare = 90

export function draftOf({
  schedule,
  maximumCostUsd,
  agentic,
  filter,
  passing,
  gate,
}: GoldenSettingsBody): SettingsDraft {
  return {
    every: schedule?.every ?? 'never',
    weekday: schedule?.every === 'week' ? schedule.weekday : 1,
    time: schedule && 'time' in schedule ? schedule.time : defaultTime,
    maximumCostUsd: maximumCostUsd ?? '',
    agentic,
    filter,
    passing: percents(passingMeasures, passing),
    hasGate: gate !== null,
    gate: gate ? percents(gateMeasures, gate) : { ...percents(gateMeasures, {}), passedShare: defaultPassedShare },
  }
}

/** The body of PATCH. */
export function changeOf(draft: SettingsDraft) {
  const { maximumCostUsd, agentic, filter, passing, hasGate, gate } = draft
  return {
    schedule: scheduleOf(draft),
    maximumCostUsd: maximumCostUsd === '' ? null : maximumCostUsd,
    agentic,
    filter,
    passing: shares(passing),
    gate: hasGate ? shares(gate) : null,
  }
}

function scheduleOf({ every, weekday, time }: SettingsDraft): GoldenSettingsBody['schedule'] {
  if (every === 'never') return null
  if (every === 'change') return { every }
  return every === 'day' ? { every, time } : { every, weekday, time }
}

function percents<Name extends string>(
  names: readonly Name[],
  values: { [Key in Name]?: number | undefined },
): Record<Name, number | ''> {
  const entries = names.map((name) => [name, values[name] === undefined ? '' : Math.round(values[name] * 1e4) / 100])
  return Object.fromEntries(entries)
}

const shares = (values: Record<string, number | ''>) =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value === '' ? [] : [[name, value / 100]])))
