import type { AdminAction } from '../../contract/admin-log.ts'
import {
  countRows,
  type Database,
  isForeignKeyViolation,
  type Queryable,
  type RecordChange,
  type Stored,
} from '../../platform/database/index.ts'
import { AppError, isUuid, sharedOwner } from '../../platform/kernel/index.ts'
import { type Actor, adminChangesOf, changedFields } from '../../tenants/operators/index.ts'
import { describeSpaceForLog } from './describe-space.ts'
import type { Space, SpaceSettings } from './space.ts'
import { defaultSpaceSettings } from './space-change.ts'

/** The topic of Spaces in the change feed. */
export const spacesTopic = 'spaces'

const log = adminChangesOf(({ id, organisationId }: Space) => ({ subjectType: 'space', subjectId: id, organisationId }))

export type SpaceStore = ReturnType<typeof createSpaceStore>

export function createSpaceStore(database: Database, recordChange: RecordChange) {
  async function insertWithin(transaction: Queryable, space: Space, actor: Actor) {
    await insertRow(transaction, space)
    await log(transaction, actor, space.createdAt, 'space.created', space, {
      before: null,
      after: describeSpaceForLog(space),
    })
    await recordChange(transaction, spacesTopic, space.id)
  }

  return {
    async loadAll(): Promise<Space[]> {
      return (await database.for(sharedOwner).query<SpaceRow>(selectSpaces)).map(toSpace)
    },
    async loadMany(ids: readonly string[]): Promise<Space[]> {
      const shared = database.for(sharedOwner)
      return (await shared.query<SpaceRow>(`${selectSpaces} WHERE id = ANY($1::uuid[])`, [ids])).map(toSpace)
    },
    loadPage: (filter: PageFilter) => loadPage(database, filter),
    /** Throws `organisation_not_found`. */
    async insert(space: Space, actor: Actor): Promise<void> {
      try {
        await database.for(space.organisationId).transaction((transaction) => insertWithin(transaction, space, actor))
      } catch (error) {
        if (!isForeignKeyViolation(error)) throw error
        throw new AppError('organisation_not_found', `There is no organisation ${space.organisationId}.`, {
          param: 'organisationId',
          cause: error,
        })
      }
    },
    /** `insert` inside the caller's transaction. The organisation must exist. */
    insertWithin,
    /** Applies `change` to the current row, which stays locked until the commit. The log also gets `note`. False when there is no such Space. */
    update: (
      { id, owner }: OwnedSpace,
      change: (current: Space) => Space,
      { action, actor, note }: { action: AdminAction; actor: Actor; note: Record<string, unknown> },
    ) =>
      database.for(owner).transaction(async (transaction) => {
        const current = await lock(transaction, id)
        if (!current) return false
        const next = change(current)
        const changed = changedFields(describeSpaceForLog(current), describeSpaceForLog(next))
        const instructionsChanged = current.instructions !== next.instructions
        if (!changed && !instructionsChanged) return true
        await updateRow(transaction, next)
        if (current.settings.keepConversations && !next.settings.keepConversations)
          await detachConversations(transaction, id)
        await log(transaction, actor, next.updatedAt, action, next, {
          before: changed?.before ?? {},
          after: { ...changed?.after, ...(instructionsChanged ? { instructionsChanged } : {}), ...note },
        })
        await recordChange(transaction, spacesTopic, id)
        return true
      }),
    /** Deletes the row and, in the same transaction, records the removal of its documents. False when there is no such Space. */
    remove: ({ id, owner }: OwnedSpace, actor: Actor, nowMs: number) =>
      database.for(owner).transaction(async (transaction) => {
        const current = await lock(transaction, id)
        if (!current) return false
        await transaction.execute(`DELETE FROM spaces WHERE id = $1`, [id])
        await transaction.execute(
          `INSERT INTO space_removals (space_id, organisation_id, removed_at, attempts, first_pass_done, next_attempt_at)
           VALUES ($1, $2, $3, 0, false, $3)`,
          [id, current.organisationId, new Date(nowMs)],
        )
        await log(transaction, actor, nowMs, 'space.removed', current, {
          before: describeSpaceForLog(current),
          after: null,
        })
        await recordChange(transaction, spacesTopic, id)
        return true
      }),
  }
}

/** `owner`: its organisation; that for all where the Space is not known here. */
interface OwnedSpace {
  id: string
  owner: string
}

interface PageFilter {
  /** Whose turns the statements take: of the person who lists Spaces of several organisations. */
  owner?: string
  organisationId?: string
  /** Only Spaces of these organisations. */
  visible?: string[]
  /** A part of the name, not case-sensitive. */
  search?: string
  published?: boolean
  limit: number
  offset: number
}

/** Newest first. */
async function loadPage(database: Database, filter: PageFilter) {
  const { organisationId = null, visible = null, search = null, published = null, limit, offset } = filter
  // strpos: the text is no pattern.
  const matches = `($1::uuid IS NULL OR organisation_id = $1::uuid)
    AND ($2::uuid[] IS NULL OR organisation_id = ANY($2::uuid[]))
    AND ($3::text IS NULL OR strpos(lower(name), lower($3::text)) > 0)
    AND ($4::boolean IS NULL OR published = $4::boolean)`
  const values = [organisationId, visible, search, published]
  const own = database.for(organisationId ?? filter.owner ?? sharedOwner)
  const total = await countRows(own, `spaces WHERE ${matches}`, values)
  const rows = await own.query<SpaceRow>(
    `${selectSpaces} WHERE ${matches} ORDER BY created_at DESC, id DESC LIMIT $5 OFFSET $6`,
    [...values, limit, offset],
  )
  return { total, spaces: rows.map(toSpace) }
}

const selectSpaces = `SELECT id, organisation_id AS "organisationId", name, instructions, model, settings, published,
    endpoint_id AS "endpointId", created_at AS "createdAt", updated_at AS "updatedAt"
  FROM spaces`

type SpaceRow = Stored<Omit<Space, 'settings'>, 'createdAt' | 'updatedAt'> & { settings: Partial<SpaceSettings> }

function toSpace({ settings, createdAt, updatedAt, ...space }: SpaceRow): Space {
  return Object.freeze({
    ...space,
    // A row that is older than a setting gets the setting's default. Answers of existing Spaces stay as they are.
    settings: Object.freeze({ ...defaultSpaceSettings, attribution: 'off', ...settings }),
    createdAt: createdAt.getTime(),
    updatedAt: updatedAt.getTime(),
  })
}

/** Changes of what belongs to a Space wait for each other. Throws `space_not_found`. */
export async function lockSpace(transaction: Queryable, spaceId: string): Promise<void> {
  const [row] = await transaction.query(`SELECT 1 FROM spaces WHERE id = $1 FOR NO KEY UPDATE`, [spaceId])
  if (!row) throw new AppError('space_not_found', `There is no Space ${spaceId}.`)
}

async function lock(transaction: Queryable, id: string): Promise<Space | undefined> {
  if (!isUuid(id)) return undefined
  const [row] = await transaction.query<SpaceRow>(`${selectSpaces} WHERE id = $1 FOR UPDATE`, [id])
  return row && toSpace(row)
}

async function insertRow(transaction: Queryable, space: Space) {
  await transaction.execute(
    `INSERT INTO spaces (id, organisation_id, name, instructions, model, settings, published, endpoint_id, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10)`,
    [
      space.id,
      space.organisationId,
      space.name,
      space.instructions,
      space.model,
      JSON.stringify(space.settings),
      space.published,
      space.endpointId,
      new Date(space.createdAt),
      new Date(space.updatedAt),
    ],
  )
}

async function updateRow(transaction: Queryable, space: Space) {
  await transaction.execute(
    `UPDATE spaces SET name = $2, instructions = $3, model = $4, settings = $5::jsonb, published = $6, endpoint_id = $7,
       updated_at = $8
     WHERE id = $1`,
    [
      space.id,
      space.name,
      space.instructions,
      space.model,
      JSON.stringify(space.settings),
      space.published,
      space.endpointId,
      new Date(space.updatedAt),
    ],
  )
}

/** They can no longer be read; a job of src/chat/conversations deletes them. Deleting the Space does the same. */
async function detachConversations(transaction: Queryable, spaceId: string) {
  await transaction.execute(`UPDATE own_chats SET space_id = NULL WHERE space_id = $1`, [spaceId])
  return transaction.execute(`UPDATE conversation_stores SET space_id = NULL WHERE space_id = $1`, [spaceId])
}
