import { queryOptions } from '@tanstack/react-query'
import { getJson } from '../api/client.ts'

/** The name of an organisation to which an operator does not belong; loaded once for each. */
export const organisationNameQuery = (organisationId: string) =>
  queryOptions({
    queryKey: ['visited-organisation', organisationId],
    queryFn: ({ signal }) => getJson<{ name: string }>(`/api/organisations/${organisationId}`, { signal }),
    staleTime: 300_000,
    retry: false,
  })
