import { useQueryClient } from '@tanstack/react-query'
import type { ToolServerBody } from '@contract/space-tools.ts'
import { jsonQuery } from '../../api/queries.ts'

export const toolsPath = (spaceId: string) => `/api/spaces/${spaceId}/tools`

export const toolServersQuery = (spaceId: string) =>
  jsonQuery<{ items: ToolServerBody[] }>(['space-tools', spaceId], toolsPath(spaceId))

/** A server with the version of its settings. */
export const withVersion = (server: ToolServerBody) => ({ ...server, version: String(server.generation) })
export type VersionedServer = ReturnType<typeof withVersion>

/** Loads the server with this id again; undefined: it was deleted. */
export function useFreshServer(spaceId: string) {
  const client = useQueryClient()
  return async (id: string): Promise<VersionedServer | undefined> => {
    const { items } = await client.fetchQuery({ ...toolServersQuery(spaceId), staleTime: 0 })
    const found = items.find((server) => server.id === id)
    return found && withVersion(found)
  }
}
