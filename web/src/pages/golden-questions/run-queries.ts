import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { GoldenRunBody, goldenResultPageSchema, goldenRunPageSchema } from '@contract/golden-runs.ts'
import { getJson } from '../../api/client.ts'
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
  return queryOptions({
    queryKey: [...runsKey(spaceId), 'list'],
    queryFn: ({ signal }) => getJson<RunPageBody>(`${runsPath(spaceId)}?limit=${keptRuns}`, { signal }),
    refetchInterval: ({ state }) => (state.data?.items.some(isActive) ? progressMs : false),
    staleTime: 1_000,
  })
}

export function readResultSearch({ only, offset }: Record<string, unknown>): ResultSearch {
  return { ...(only === 'not_passed' || only === 'worse' ? { only } : {}), ...readOffset(offset) }
}

/** The results of a run; they follow it while some are missing. */
export function resultsQuery(spaceId: string, runId: string, { only, offset = 0 }: ResultSearch) {
  const query = new URLSearchParams({ limit: String(resultsPerPage), offset: String(offset) })
  if (only !== undefined) query.set('only', only)
  return queryOptions({
    queryKey: [...runsKey(spaceId), runId, only, offset],
    queryFn: ({ signal }) =>
      getJson<ResultPageBody>(`${runsPath(spaceId)}/${encodeURIComponent(runId)}/results?${query}`, { signal }),
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ outcome }) => outcome === 'pending') ? progressMs : false,
  })
}
