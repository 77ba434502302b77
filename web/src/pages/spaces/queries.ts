import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import type { PublicationView, SpaceListView, SpaceModelsView, SpaceView } from '@contract/console-spaces.ts'
import { getJson } from '../../api/client.ts'

export interface SpaceListSearch {
  search?: string
  state?: 'published' | 'unpublished'
  offset?: number
}

export const spacesPerPage = 20

/** Reads the search parameters of a list of Spaces; wrong ones are left out. */
export function readListSearch(search: Record<string, unknown>): SpaceListSearch {
  const { search: text, state, offset } = search
  return {
    ...(typeof text === 'string' && text !== '' ? { search: text.slice(0, 200) } : {}),
    ...(state === 'published' || state === 'unpublished' ? { state } : {}),
    ...(Number.isInteger(offset) && Number(offset) > 0 ? { offset: Number(offset) } : {}),
  }
}

/** Lists that a change of a Space makes stale. */
export const spaceListsKey = ['spaces'] as const

export function spaceListQuery(organisationId: string, search: SpaceListSearch) {
  const query = new URLSearchParams({ limit: String(spacesPerPage) })
  for (const [name, value] of Object.entries(search)) if (value !== undefined) query.set(name, String(value))
  return queryOptions({
    queryKey: [...spaceListsKey, organisationId, search],
    queryFn: ({ signal }) =>
      getJson<SpaceListView>(`/api/console/organisations/${organisationId}/spaces?${query}`, { signal }),
  })
}

export function spaceModelsQuery(organisationId: string) {
  return queryOptions({
    queryKey: ['space-models', organisationId],
    queryFn: ({ signal }) =>
      getJson<SpaceModelsView>(`/api/console/organisations/${organisationId}/space-models`, { signal }),
    staleTime: 60_000,
  })
}

/** One Space; loaded once for all of its pages. */
export function spaceQuery(spaceId: string) {
  return queryOptions({
    queryKey: ['space', spaceId],
    queryFn: ({ signal }) => getJson<SpaceView>(`/api/console/spaces/${spaceId}`, { signal }),
    staleTime: 60_000,
  })
}

/** The Space of a page below `spaceRoute`. */
export function useSpace(spaceId: string): SpaceView {
  return useSuspenseQuery(spaceQuery(spaceId)).data
}

export function publicationQuery(spaceId: string) {
  return queryOptions({
    queryKey: ['publication', spaceId],
    queryFn: ({ signal }) => getJson<PublicationView>(`/api/console/spaces/${spaceId}/publication`, { signal }),
  })
}
