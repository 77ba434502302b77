import type {
  ChangeToolServer,
  CheckToolServer,
  NewToolServer,
  StoredTool,
  ToolCredential,
} from '../../contract/space-tools.ts'
import type { StoreOf } from '../../platform/database/index.ts'
import { AppError, type Clock, createUuid, isUuid, type SecretBox, invalidField } from '../../platform/kernel/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import type { Space } from '../spaces/index.ts'
import { parseToolAddress } from './address.ts'
import { openCredential, sealCredential, showCredential } from './credential.ts'
import { readOpenapiInThread } from './openapi/openapi-thread.ts'
import type { ToolCalls } from './tool-calls.ts'
import type { ReadTools, ToolServer } from './tool-server.ts'
import { changedMeanwhile, noServer, type ToolServerStore } from './tool-servers.store.ts'

export interface ToolServersDependencies {
  store: StoreOf<ToolServerStore>
  calls: ToolCalls
  secretBox: SecretBox
  clock: Clock
}

export type ToolServers = ReturnType<typeof createReads> & ReturnType<typeof createChanges>

/** The rules for the tool servers of Spaces. Throws AppError. */
export function createToolServers(dependencies: ToolServersDependencies): ToolServers {
  const access = createAccess(dependencies)
  return { ...createReads(dependencies, access), ...createChanges(dependencies, access) }
}

type Access = ReturnType<typeof createAccess>

function createAccess({ store, calls }: Pick<ToolServersDependencies, 'store' | 'calls'>) {
  async function find(space: Space, id: string): Promise<ToolServer> {
    const server = isUuid(id) ? await store(space.organisationId).find(space.id, id) : undefined
    return server ?? throwError(noServer())
  }

  /** The tools of the server or the file. */
  function read(
    kind: ToolServer['kind'],
    url: string,
    document: string | undefined,
    reading: Reading,
  ): Promise<ReadTools> {
    if (kind === 'mcp') return calls.list({ url, credential: reading.credential }, reading.signal)
    return readOpenapiInThread(document!)
  }

  return { find, read }
}

function createReads({ store, calls, secretBox }: ToolServersDependencies, { find, read }: Access) {
  return {
    list: (space: Space) => store(space.organisationId).list(space.id),

    /** What a server or a file offers. Nothing is stored. */
    async check(space: Space, body: CheckToolServer, signal: AbortSignal): Promise<ReadTools> {
      const { kind, document, serverId } = body
      if (kind === 'openapi') {
        if (document === undefined) throw required('document')
        return read(kind, '', document, { credential: null, signal })
      }
      if (body.url === undefined) throw required('url')
      const url = parseToolAddress(body.url, calls.network).href
      const stored = serverId === undefined ? undefined : await find(space, serverId)
      const credential = body.credential === undefined ? storedCredential(secretBox, stored, url) : body.credential
      return read(kind, url, undefined, { credential, signal })
    },
  }
}

function createChanges({ store, calls, secretBox, clock }: ToolServersDependencies, { find, read }: Access) {
  return {
    async create(space: Space, body: NewToolServer, { actor, signal }: Author): Promise<ToolServer> {
      const { kind, document, credential = null } = body
      const url = parseToolAddress(body.url, calls.network).href
      const { tools } = await read(kind, url, document, { credential, signal })
      const id = createUuid()
      const nowMs = clock.now()
      const server: ToolServer = {
        id,
        spaceId: space.id,
        organisationId: space.organisationId,
        kind,
        ...settingsOf(body),
        url,
        ...sealed(secretBox, id, credential),
        tools,
        allowed: selectAllowed(tools, body),
        generation: 1,
        readAt: nowMs,
        createdAt: nowMs,
        updatedAt: nowMs,
      }
      await store(space.organisationId).insert(server, { actor, action: 'tool_server.created' })
      return server
    },

    /** `generation`: of the server that was read; undefined: whatever is there. */
    async change(space: Space, id: string, body: ChangeToolServer, author: Author, generation?: number) {
      const current = await find(space, id)
      if (generation !== undefined && generation !== current.generation) throw changedMeanwhile()
      if (current.kind === 'mcp' && body.document !== undefined)
        throw invalidField('document', '`document` is for servers of the kind `openapi`.')
      const url = parseToolAddress(body.url, calls.network).href
      const credential = body.credential === undefined ? storedCredential(secretBox, current, url) : body.credential
      const isRead = needsReading(current, body, url)
      const { tools } = isRead
        ? await read(current.kind, url, body.document, { credential, signal: author.signal })
        : current
      const nowMs = clock.now()
      const server: ToolServer = {
        ...current,
        ...settingsOf(body),
        url,
        ...(body.credential !== undefined && sealed(secretBox, id, credential)),
        tools,
        allowed: selectAllowed(tools, body),
        generation: current.generation + 1,
        readAt: isRead ? nowMs : current.readAt,
        updatedAt: nowMs,
      }
      await store(space.organisationId).replace(server, { actor: author.actor, action: 'tool_server.updated' })
      return server
    },

    async remove(space: Space, id: string, actor: Actor, generation?: number): Promise<void> {
      const { id: spaceId, organisationId } = space
      const place = { id: isUuid(id) ? id : throwError(noServer()), spaceId, organisationId }
      const change = { actor, action: 'tool_server.removed' } as const
      await store(organisationId).remove(place, generation, change, clock.now())
    },
  }
}

interface Reading {
  credential: ToolCredential | null
  signal: AbortSignal
}

interface Author {
  actor: Actor
  /** Aborts when the client is gone. */
  signal: AbortSignal
}

/** Whether a change has tools to read. */
function needsReading({ kind, url }: ToolServer, body: ChangeToolServer, newUrl: string): boolean {
  return kind === 'openapi'
    ? body.document !== undefined
    : body.refresh || newUrl !== url || body.credential !== undefined
}

function throwError(error: Error): never {
  throw error
}

const required = (param: string) => invalidField(param, `\`${param}\` is required.`)

function settingsOf({
  name,
  enabled,
  mayChangeData,
  visitors,
}: Pick<ToolServer, 'name' | 'enabled' | 'mayChangeData' | 'visitors'>) {
  return { name, enabled, mayChangeData, visitors }
}

function sealed(box: SecretBox, id: string, credential: ToolCredential | null) {
  return {
    credentialSealed: credential && sealCredential(box, id, credential),
    credentialShown: credential && showCredential(credential),
  }
}

/** Throws where the stored one would be sent to another host: a person must not learn it by naming another server. */
function storedCredential(box: SecretBox, server: ToolServer | undefined, url: string): ToolCredential | null {
  if (!server || server.credentialSealed === null) return null
  if (new URL(server.url).origin !== new URL(url).origin)
    throw invalidField(
      'credential',
      '`credential` must be sent again, or null to remove it, because the server has another address now.',
    )
  try {
    return openCredential(box, server.id, server.credentialSealed)
  } catch (error) {
    throw new AppError('invalid_request', '`credential` must be sent again: it is encrypted with another secret key.', {
      param: 'credential',
      cause: error,
    })
  }
}

/** The definitions of the allowed tools. Throws `invalid_request` for one that is not there or must not be used. */
function selectAllowed(
  tools: readonly StoredTool[],
  { allowed, mayChangeData }: { allowed: readonly string[]; mayChangeData: boolean },
): StoredTool[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return [...new Set(allowed)].map((name) => {
    const tool = byName.get(name)
    const shown = name.slice(0, 100)
    const param = 'allowed'
    if (!tool) throw invalidField(param, `\`allowed\` has ${shown}, and the server has no such tool.`)
    if (tool.problem !== null)
      throw invalidField(param, `\`allowed\` has ${shown}, whose arguments are too large or not supported.`)
    if (tool.changesData && !mayChangeData)
      throw invalidField(param, `\`allowed\` has ${shown}, which may change data: \`mayChangeData\` must allow it.`)
    return tool
  })
}
