import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { SiteTodayBody, SiteViewBody } from '@contract/sites.ts'
import { postJson, putJson } from '../../api/client.ts'
import { jsonQuery } from '../../api/queries.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import type { SiteChange } from './site-draft.ts'

export function siteQuery(spaceId: string) {
  return jsonQuery<SiteViewBody>(['site', spaceId], `/api/spaces/${spaceId}/site`)
}

export const todayKey = (spaceId: string) => ['site', spaceId, 'today']

/** What visitors do today. It moves while the page is open. */
export function todayQuery(spaceId: string) {
  return jsonQuery<SiteTodayBody>(todayKey(spaceId), `/api/spaces/${spaceId}/site/today`, { refetchInterval: 10_000 })
}

/** The site with the version of its settings. A pause raises it too. */
export const withVersion = (view: SiteViewBody) => ({ ...view, version: String(view.site?.generation ?? 0) })
export type VersionedSite = ReturnType<typeof withVersion>

/** Saves all settings. A change of someone else since `base` is refused. */
export function putSite(spaceId: string, change: SiteChange, base: VersionedSite): Promise<SiteViewBody> {
  return putJson(`/api/spaces/${spaceId}/site`, change, ifMatch(base))
}

export function usePauseSite(spaceId: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (action: 'pause' | 'resume') => postJson<SiteViewBody>(`/api/spaces/${spaceId}/site/${action}`),
    onSuccess: (view) => queryClient.setQueryData(siteQuery(spaceId).queryKey, view),
  })
}
