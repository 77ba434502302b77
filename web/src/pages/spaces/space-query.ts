import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import type { SpaceBody } from '@contract/operator.ts'
import { getJson } from '../../api/client.ts'

/** One Space; loaded once for all of its pages. */
export function spaceQuery(spaceId: string) {
  return queryOptions({
    queryKey: ['space', spaceId],
    queryFn: ({ signal }) => getJson<SpaceBody>(`/api/spaces/${spaceId}`, { signal }),
    staleTime: 60_000,
  })
}

/** The Space of a page below `spaceRoute`. */
export function useSpace(spaceId: string): SpaceBody {
  return useSuspenseQuery(spaceQuery(spaceId)).data
}
