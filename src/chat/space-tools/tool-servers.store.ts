import { spaceToolLimits } from '../../contract/space-tools.ts'
import type { AdminAction } from '../../contract/admin-log.ts'
import type { OwnedDatabase, Queryable, Stored } from '../../platform/database/index.ts'
import { AppError, type OrganisationId, type SpaceId, invalidField } from '../../platform/kernel/index.ts'
import { type Actor, changedFields, recordAdminChange } from '../../tenants/operators/index.ts'
import { lockSpace } from '../spaces/index.ts'
import type { OfferedServer, ToolServer, ToolUse } from './tool-server.ts'

export type ToolServerStore = ReturnType<typeof createToolServerStore>

interface Change {
  actor: Actor
  action: AdminAction
}

/** The tool servers of one organisation. */
export function createToolServerStore(database: OwnedDatabase) {
  return {
    list: (spaceId: string) => loadServers(database, `space_id = $1 ORDER BY name`, [spaceId]),
    async find(spaceId: string, id: string): Promise<ToolServer | undefined> {
      const [server] = await loadServers(database, `space_id = $1 AND id = $2`, [spaceId, id])
      return server
    },
    /** What an answer may use, in the order of their names. */
    offered: (spaceId: string, use: ToolUse) =>
      database.query<OfferedServer>(
        `SELECT id, kind, name, url, may_change_data AS "mayChangeData", credential_sealed AS "credentialSealed", allowed
         FROM space_tool_servers WHERE space_id = $1 AND enabled AND (visitors OR $2 <> 'visitors') ORDER BY name`,
        [spaceId, use],
      ),
    /** Throws `space_not_found`, `conflict` for a name that is taken, and `invalid_request` where the Space has too much of them. */
    insert: (server: ToolServer, change: Change) =>
      withinSpace(database, server, async (transaction) => {
        await assertRoom(transaction, server)
        await write(transaction, server)
        await record(transaction, change, server, { before: null, after: describeForLog(server) })
      }),
    /** Throws as `insert` does, and `conflict` where the generation is not that before `server`, `not_found` where it was deleted. */
    replace: (server: ToolServer, change: Change) =>
      withinSpace(database, server, async (transaction) => {
        const [current] = await loadServers(transaction, `space_id = $1 AND id = $2`, [server.spaceId, server.id])
        if (!current) throw noServer()
        if (current.generation !== server.generation - 1) throw changedMeanwhile()
        await assertRoom(transaction, server)
        await write(transaction, server)
        const changed = changedFields(describeForLog(current), describeForLog(server))
        const credentialChanged = current.credentialSealed !== server.credentialSealed
        await record(transaction, change, server, {
          before: changed?.before ?? {},
          after: { ...changed?.after, ...(credentialChanged && { credentialChanged }) },
        })
      }),
    /** `generation`: undefined deletes any. */
    remove: (place: Place & { id: string }, generation: number | undefined, change: Change, nowMs: number) =>
      withinSpace(database, place, async (transaction) => {
        const [current] = await loadServers(transaction, `space_id = $1 AND id = $2`, [place.spaceId, place.id])
        if (!current) throw noServer()
        if (generation !== undefined && generation !== current.generation) throw changedMeanwhile()
        await transaction.execute(`DELETE FROM space_tool_servers WHERE id = $1`, [place.id])
        const removed = { ...current, updatedAt: nowMs }
        await record(transaction, change, removed, { before: describeForLog(current), after: null })
      }),
  }
}

interface Place {
  spaceId: SpaceId
  organisationId: OrganisationId
}

export const noServer = () => new AppError('not_found', 'There is no tool server with this id.', { param: 'serverId' })
export const changedMeanwhile = () =>
  new AppError('conflict', 'The tools were changed by someone else. Load them again.', { param: 'if-match' })

/** Two changes of one Space wait for each other. */
function withinSpace(database: OwnedDatabase, { spaceId }: Place, work: (transaction: Queryable) => Promise<void>) {
  return database.transaction(async (transaction) => {
    await lockSpace(transaction, spaceId)
    await work(transaction)
  })
}

/** Compares the server and the others of its Space with the limits of a Space. */
async function assertRoom(transaction: Queryable, server: ToolServer): Promise<void> {
  const others = await transaction.query<{ name: string; tools: number; characters: number }>(
    `SELECT name, jsonb_array_length(allowed) AS tools, length(allowed::text) AS characters
     FROM space_tool_servers WHERE space_id = $1 AND id <> $2`,
    [server.spaceId, server.id],
  )
  const { serversPerSpace, allowedPerSpace, allowedCharacters } = spaceToolLimits
  const sum = (of: (other: (typeof others)[number]) => number) => others.reduce((total, other) => total + of(other), 0)
  if (others.length >= serversPerSpace)
    throw invalidField('name', `A Space has at most ${serversPerSpace} tool servers.`)
  if (others.some(({ name }) => name === server.name))
    throw new AppError('conflict', `The Space has a tool server ${server.name} already.`, { param: 'name' })
  if (sum(({ tools }) => tools) + server.allowed.length > allowedPerSpace)
    throw invalidField('allowed', `A Space has at most ${allowedPerSpace} allowed tools of all its servers.`)
  if (sum(({ characters }) => characters) + JSON.stringify(server.allowed).length > allowedCharacters)
    throw invalidField(
      'allowed',
      `The definitions of the allowed tools of a Space have at most ${allowedCharacters} characters. Allow fewer tools.`,
    )
}

export async function insertToolServers(transaction: Queryable, servers: readonly ToolServer[]): Promise<void> {
  for (const server of servers) await write(transaction, server)
}

async function write(transaction: Queryable, server: ToolServer): Promise<void> {
  await transaction.execute(
    `INSERT INTO space_tool_servers (id, space_id, organisation_id, kind, name, url, enabled, may_change_data, visitors,
       credential_sealed, credential_shown, tools, allowed, generation, read_at, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12::jsonb, $13::jsonb, $14, $15, $16, $17)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, url = excluded.url, enabled = excluded.enabled,
       may_change_data = excluded.may_change_data, visitors = excluded.visitors, credential_sealed = excluded.credential_sealed,
       credential_shown = excluded.credential_shown, tools = excluded.tools, allowed = excluded.allowed,
       generation = excluded.generation, read_at = excluded.read_at, updated_at = excluded.updated_at`,
    [
      server.id,
      server.spaceId,
      server.organisationId,
      server.kind,
      server.name,
      server.url,
      server.enabled,
      server.mayChangeData,
      server.visitors,
      server.credentialSealed,
      server.credentialShown && JSON.stringify(server.credentialShown),
      JSON.stringify(server.tools),
      JSON.stringify(server.allowed),
      server.generation,
      new Date(server.readAt),
      new Date(server.createdAt),
      new Date(server.updatedAt),
    ],
  )
}

/** For the admin log: neither credentials nor definitions. */
function describeForLog({ kind, name, url, enabled, mayChangeData, visitors, credentialShown, allowed }: ToolServer) {
  const tools = allowed.map((tool) => tool.name)
  return { kind, name, url, enabled, mayChangeData, visitors, credential: credentialShown?.kind ?? null, tools }
}

function record(
  transaction: Queryable,
  { actor, action }: Change,
  { id, name, organisationId, updatedAt }: ToolServer,
  change: { before: Record<string, unknown> | null; after: Record<string, unknown> | null },
): Promise<void> {
  const after = change.after && { name, ...change.after }
  return recordAdminChange(transaction, {
    actor,
    atMs: updatedAt,
    action,
    subjectType: 'tool_server',
    subjectId: id,
    organisationId,
    before: change.before,
    after,
  })
}

async function loadServers(queryable: Queryable, where: string, values: string[]): Promise<ToolServer[]> {
  const rows = await queryable.query<Stored<ToolServer, 'readAt' | 'createdAt' | 'updatedAt'>>(
    `SELECT id, space_id AS "spaceId", organisation_id AS "organisationId", kind, name, url, enabled,
       may_change_data AS "mayChangeData", visitors, credential_sealed AS "credentialSealed", credential_shown AS "credentialShown",
       tools, allowed, generation, read_at AS "readAt", created_at AS "createdAt", updated_at AS "updatedAt"
     FROM space_tool_servers WHERE ${where}`,
    values,
  )
  return rows.map(({ readAt, createdAt, updatedAt, ...server }) => ({
    ...server,
    readAt: readAt.getTime(),
    createdAt: createdAt.getTime(),
    updatedAt: updatedAt.getTime(),
  }))
}
