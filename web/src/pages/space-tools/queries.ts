import { queryOptions } from '@tanstack/react-query'
import type { ToolServerBody } from '@contract/space-tools.ts'
import { getJson } from '../../api/client.ts'

export const toolsPath = (spaceId: string) => `/api/spaces/${spaceId}/tools`

export const toolServersQuery = (spaceId: string) =>
  queryOptions({
    queryKey: ['space-tools', spaceId],
    queryFn: ({ signal }) => getJson<{ items: ToolServerBody[] }>(toolsPath(spaceId), { signal }),
  })
