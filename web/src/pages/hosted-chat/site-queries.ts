import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { SiteTodayBody, SiteViewBody } from '@contract/sites.ts'
import { getJson, postJson, putJson } from '../../api/client.ts'
import type { SiteChange } from './site-draft.ts'

export function siteQuery(spaceId: string) {
  return queryOptions({
    queryKey: ['site', spaceId],
    queryFn: ({ signal }) => getJson<SiteViewBody>(`/api/spaces/${spaceId}/site`, { signal }),
  })
}

const todayKey = (spaceId: string) => ['site', spaceId, 'today']

/** What visitors do today. It moves while the page is open. */
export function todayQuery(spaceId: string) {
  return queryOptions({
    queryKey: todayKey(spaceId),
    queryFn: ({ signal }) => getJson<SiteTodayBody>(`/api/spaces/${spaceId}/site/today`, { signal }),
    refetchInterval: 10_000,
  })
}

/** Saves all settings. `generation` is that of the settings which were shown: a change of someone else meanwhile is refused. */
export function useSaveSite(spaceId: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ change, generation }: { change: SiteChange; generation: number }) =>
      putJson<SiteViewBody>(`/api/spaces/${spaceId}/site`, change, { headers: { 'if-match': `"${generation}"` } }),
    onSuccess: (view) => {
      queryClient.setQueryData(siteQuery(spaceId).queryKey, view)
      return queryClient.invalidateQueries({ queryKey: todayKey(spaceId) })
    },
  })
}

export function usePauseSite(spaceId: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (action: 'pause' | 'resume') => postJson<SiteViewBody>(`/api/spaces/${spaceId}/site/${action}`),
    onSuccess: (view) => queryClient.setQueryData(siteQuery(spaceId).queryKey, view),
  })
}
