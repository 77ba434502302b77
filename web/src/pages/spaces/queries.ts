import { useSuspenseQuery } from '@tanstack/react-query'
import type { PublicationView, SpaceListView, SpaceModelsView, SpaceView } from '@contract/console-spaces.ts'
import { jsonQuery, withQuery } from '../../api/queries.ts'

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
  const path = `/api/console/organisations/${organisationId}/spaces`
  return jsonQuery<SpaceListView>(
    [...spaceListsKey, organisationId, search],
    withQuery(path, { limit: spacesPerPage, ...search }),
  )
}

export function spaceModelsQuery(organisationId: string) {
  return jsonQuery<SpaceModelsView>(
    ['space-models', organisationId],
    `/api/console/organisations/${organisationId}/space-models`,
    { staleTime: 60_000 },
  )
}

/** One Space; loaded once for all of its pages. */
export function spaceQuery(spaceId: string) {
  return jsonQuery<SpaceView>(['space', spaceId], `/api/console/spaces/${spaceId}`, { staleTime: 60_000 })
}

/** The Space of a page below `spaceRoute`. */
export function useSpace(spaceId: string): SpaceView {
  return useSuspenseQuery(spaceQuery(spaceId)).data
}

export function publicationQuery(spaceId: string) {
  return jsonQuery<PublicationView>(['publication', spaceId], `/api/console/spaces/${spaceId}/publication`)
}
