import type { z } from 'zod'
import type { GoldenRunBody, goldenResultPageSchema, goldenRunPageSchema } from '@contract/golden-runs.ts'
import { jsonQuery, withQuery } from '../../api/queries.ts'
import { readOffset } from './queries.ts'

export type RunPageBody = z.output<typeof goldenRunPageSchema>
export type ResultPageBody = z.output<typeof goldenResultPageSchema>
export type Only = 'not_passed' | 'worse'

export interface ResultSearch {
  only?: Only
  offset?: number
}

/** The server keeps 30 runs of a Space. */
const keptRuns = 30
export const resultsPerPage = 100
const progressMs = 2_000

export const runsPath = (spaceId: string) => `/api/spaces/${spaceId}/golden-runs`
export const runsKey = (spaceId: string) => ['golden-runs', spaceId] as const

export const isActive = ({ state }: Pick<GoldenRunBody, 'state'>) => state === 'queued' || state === 'running'

/** Every run of the Space, the newest first. While one is active, the list follows it. */
export function runsQuery(spaceId: string) {
  return jsonQuery<RunPageBody>([...runsKey(spaceId), 'list'], `${runsPath(spaceId)}?limit=${keptRuns}`, {
    refetchInterval: ({ state }) => (state.data?.items.some(isActive) ? progressMs : false),
    staleTime: 1_000,
  })
}

export function readResultSearch({ only, offset }: Record<string, unknown>): ResultSearch {
  return { ...(only === 'not_passed' || only === 'worse' ? { only } : {}), ...readOffset(offset) }
}

/** The results of a run; they follow it while some are missing. */
export function resultsQuery(spaceId: string, runId: string, { only, offset = 0 }: ResultSearch) {
  const path = `${runsPath(spaceId)}/${encodeURIComponent(runId)}/results`
  return jsonQuery<ResultPageBody>(
    [...runsKey(spaceId), runId, only, offset],
    withQuery(path, { limit: resultsPerPage, offset, only }),
    {
      refetchInterval: ({ state }) =>
        state.data?.items.some(({ outcome }) => outcome === 'pending') ? progressMs : false,
    },
  )
}
