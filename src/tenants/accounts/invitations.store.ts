import type { AdminAction } from '../../contract/admin-log.ts'
import { countRows, type Database, type Queryable } from '../../platform/database/index.ts'
import { isUuid, sharedOwner } from '../../platform/kernel/index.ts'
import { recordAdminChange } from '../operators/index.ts'
import { isOpenAt } from './issued-links.store.ts'
import { type Change, insertPerson, putMembership } from './people.store.ts'
import type { Invitation, NewPerson, Page } from './person.ts'

export type NewInvitation = Omit<Invitation, 'organisationName'> & {
  tokenHash: Uint8Array
  /** null: the operator token. */
  invitedByPerson: string | null
}

/** What became of an acceptance. */
export type Acceptance = 'accepted' | 'missing' | 'account_exists' | 'other_person'

const columns = `i.id, i.email, i.role, i.organisation_id AS "organisationId", o.name AS "organisationName",
  i.invited_by AS "invitedBy", i.created_at AS "createdAt", i.expires_at AS "expiresAt"`
const source = `people_invitations i LEFT JOIN organisations o ON o.id = i.organisation_id`

/** Invitations that are open. */
export function createInvitationStore(database: Database) {
  return {
    insert: (invitation: NewInvitation, change: Change): Promise<void> =>
      database.for(invitation.organisationId ?? sharedOwner).transaction(async (transaction) => {
        const { id, tokenHash, email, organisationId, role, invitedBy, invitedByPerson, createdAt, expiresAt } =
          invitation
        await transaction.execute(
          `INSERT INTO people_invitations (id, token_hash, email, organisation_id, role, invited_by, created_at, expires_at, invited_by_person)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
          [id, tokenHash, email, organisationId, role, invitedBy, createdAt, expiresAt, invitedByPerson],
        )
        await record(transaction, change, 'invitation.created', invitation, { before: null, after: { email, role } })
      }),

    /** The open invitation of a link. */
    async findByToken(tokenHash: Uint8Array, nowMs: number) {
      const [found] = await database
        .for(sharedOwner)
        .query<Invitation>(`SELECT ${columns} FROM ${source} WHERE i.token_hash = $1 AND ${isOpenAt('$2')}`, [
          tokenHash,
          new Date(nowMs),
        ])
      return found
    },

    /** Newest first; `organisationId` null: invitations of operators. */
    async loadPage(organisationId: string | null, { limit, offset }: Page, nowMs: number) {
      const open = `i.organisation_id IS NOT DISTINCT FROM $1::uuid AND ${isOpenAt('$2')}`
      const filter = [organisationId, new Date(nowMs)]
      const own = database.for(organisationId ?? sharedOwner)
      const total = await countRows(own, `people_invitations i WHERE ${open}`, filter)
      const invitations = await own.query<Invitation>(
        `SELECT ${columns} FROM ${source} WHERE ${open} ORDER BY i.created_at DESC, i.id DESC LIMIT $3 OFFSET $4`,
        [...filter, limit, offset],
      )
      return { total, invitations }
    },

    /** Resolves to false if there is no such open invitation. */
    remove: (organisationId: string | null, id: string, change: Change): Promise<boolean> =>
      database.for(organisationId ?? sharedOwner).transaction(async (transaction) => {
        if (!isUuid(id)) return false
        const [removed] = await transaction.query<{ email: string; role: string }>(
          `DELETE FROM people_invitations WHERE id = $1 AND organisation_id IS NOT DISTINCT FROM $2::uuid AND accepted_at IS NULL
           RETURNING email, role`,
          [id, organisationId],
        )
        if (!removed) return false
        await record(
          transaction,
          change,
          'invitation.removed',
          { id, organisationId },
          { before: removed, after: null },
        )
        return true
      }),
    ...createAcceptance(database),
  }
}

function createAcceptance(database: Database) {
  return {
    /** Uses the invitation once, for the new account or for the signed-in person. */
    accept: (
      tokenHash: Uint8Array,
      by: { created: NewPerson } | { personId: string },
      change: Change,
    ): Promise<Acceptance> =>
      database.for(sharedOwner).transaction(async (transaction) => {
        const at = new Date(change.atMs)
        const [invitation] = await transaction.query<Invitation>(
          `SELECT i.id, i.email, i.role, i.organisation_id AS "organisationId" FROM people_invitations i
            WHERE i.token_hash = $1 AND ${isOpenAt('$2')} FOR UPDATE OF i`,
          [tokenHash, at],
        )
        if (!invitation) return 'missing'
        if ('created' in by) {
          if (!(await insertPerson(transaction, by.created, change))) return 'account_exists'
        } else {
          const invited = `SELECT 1 FROM people WHERE id = $1 AND email = $2`
          const found = await transaction.query(invited, [by.personId, invitation.email])
          if (found.length === 0) return 'other_person'
        }
        await grant(transaction, invitation, 'created' in by ? by.created.id : by.personId, change)
        await transaction.execute(`UPDATE people_invitations SET accepted_at = $2 WHERE id = $1`, [invitation.id, at])
        return 'accepted'
      }),
  }
}

async function grant(
  transaction: Queryable,
  { organisationId, role }: Pick<Invitation, 'organisationId' | 'role'>,
  personId: string,
  change: Change,
): Promise<void> {
  if (organisationId !== null && role !== 'operator') {
    await putMembership(transaction, { organisationId, personId, role }, change)
    return
  }
  // Nobody has verified that an invited person owns the e-mail, so an operator confirms the account first.
  const granted = await transaction.execute(
    `UPDATE people SET is_operator = true, operator_from_groups = false WHERE id = $1 AND email_verified`,
    [personId],
  )
  if (granted === 0) return
  await recordAdminChange(transaction, {
    ...change,
    action: 'person.updated',
    subjectType: 'person',
    subjectId: personId,
    organisationId: null,
    before: { isOperator: false },
    after: { isOperator: true },
  })
}

function record(
  transaction: Queryable,
  change: Change,
  action: AdminAction,
  { id, organisationId }: { id: string; organisationId: string | null },
  values: { before: Record<string, unknown> | null; after: Record<string, unknown> | null },
): Promise<void> {
  return recordAdminChange(transaction, {
    ...change,
    action,
    subjectType: 'invitation',
    subjectId: id,
    organisationId: organisationId as never,
    ...values,
  })
}
