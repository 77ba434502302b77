import type { Queryable } from '../../platform/database/index.ts'
import { type NewAdminLogEntry, recordAdminChange } from '../operators/index.ts'

/** The sender of an invitation. A version before the column `invited_by_person` has stored only the e-mail. */
const senderId = `coalesce(i.invited_by_person, (SELECT e.id FROM people e WHERE e.email = i.invited_by))`

const senderMayInvite = `EXISTS (SELECT 1 FROM people s WHERE s.id = ${senderId} AND (s.is_operator
  OR EXISTS (SELECT 1 FROM people_memberships m
    WHERE m.person_id = s.id AND m.organisation_id = i.organisation_id AND m.role = 'administrator')))`

/**
 * The condition of an open invitation at the time of a placeholder: neither accepted nor expired, and its sender may still invite to the
 * role. The operator token may as long as it is not replaced.
 */
export const isOpenAt = (time: string) => `i.accepted_at IS NULL AND i.expires_at > ${time} AND (${senderMayInvite}
  OR (i.invited_by_person IS NULL AND i.invited_by = 'operator'
    AND NOT EXISTS (SELECT 1 FROM operator_token t WHERE t.created_at > i.created_at)))`

/**
 * Ends the links that a person has made and may not make any more, so that they stay invalid if the person gets the right back. Call it in
 * the transaction that takes a role away.
 */
export async function endLinksOf(
  transaction: Queryable,
  personId: string,
  change: Pick<NewAdminLogEntry, 'actor' | 'atMs'>,
): Promise<void> {
  await transaction.execute(
    `DELETE FROM people_password_resets r
      WHERE r.created_by_person = $1 AND NOT EXISTS (SELECT 1 FROM people s WHERE s.id = $1 AND s.is_operator)`,
    [personId],
  )
  const ended = await transaction.query<{ id: string; organisationId: string | null; email: string; role: string }>(
    `DELETE FROM people_invitations i WHERE i.accepted_at IS NULL AND ${senderId} = $1 AND NOT ${senderMayInvite}
     RETURNING i.id, i.organisation_id AS "organisationId", i.email, i.role`,
    [personId],
  )
  for (const { id, organisationId, ...before } of ended)
    await recordAdminChange(transaction, {
      ...change,
      action: 'invitation.removed',
      subjectType: 'invitation',
      subjectId: id,
      organisationId: organisationId as never,
      before,
    })
}
