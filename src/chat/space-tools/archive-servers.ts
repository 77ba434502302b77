import type { ArchivedToolServer } from '../../contract/space-tools.ts'
import { createUuid } from '../../platform/kernel/index.ts'
import type { Space } from '../spaces/index.ts'
import type { ToolServer } from './tool-server.ts'

/** Tool servers in archives of Spaces: without credentials, and with allowed tools only. */

export const archiveToolServer = ({
  kind,
  name,
  url,
  mayChangeData,
  visitors,
  allowed,
}: ToolServer): ArchivedToolServer => ({ kind, name, url, mayChangeData, visitors, tools: [...allowed] })

/** Switched off: its credential is missing, and the addresses of an archive are not trusted. */
export function restoreToolServer(space: Space, { tools, ...archived }: ArchivedToolServer, nowMs: number): ToolServer {
  return {
    ...archived,
    id: createUuid(),
    spaceId: space.id,
    organisationId: space.organisationId,
    enabled: false,
    credentialSealed: null,
    credentialShown: null,
    tools,
    allowed: tools.filter(({ changesData, problem }) => problem === null && (archived.mayChangeData || !changesData)),
    generation: 1,
    readAt: nowMs,
    createdAt: nowMs,
    updatedAt: nowMs,
  }
}
