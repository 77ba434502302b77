import type { Queryable } from '../../platform/database/index.ts'
import type { NewTurn } from './turn.ts'

/** The keyed digest of a visitor or a document, as the table `erasures` has it. */
export type SubjectDigest = (organisationId: string, kind: 'user' | 'document', value: string) => string

/** So that a lost database holds up neither a stop nor the turns of others for long. */
export const writeOptions = { timeoutMs: 10_000, background: true }

/** Whether the Space keeps conversations. Its row is locked, so that nothing is stored after the setting was turned off or the Space was deleted. */
export async function lockKeepingSpace(transaction: Queryable, spaceId: string): Promise<boolean> {
  const [space] = await transaction.query<{ keeps: boolean }>(
    `SELECT coalesce((settings->>'keepConversations')::bool, false) AS keeps FROM spaces WHERE id = $1 FOR SHARE`,
    [spaceId],
  )
  return space?.keeps ?? false
}

/** The turns that a table does not have yet. */
export async function withoutStored<Turn extends NewTurn>(
  transaction: Queryable,
  table: 'conversation_turns' | 'own_chat_turns',
  turns: readonly Turn[],
): Promise<Turn[]> {
  const stored = await transaction.query<{ requestId: string }>(
    `SELECT request_id AS "requestId" FROM ${table} WHERE request_id = ANY($1::text[])`,
    [turns.map(({ requestId }) => requestId)],
  )
  const ids = new Set(stored.map(({ requestId }) => requestId))
  return turns.filter(({ requestId }) => !ids.has(requestId))
}

/**
 * The turns that may still be stored: an answer that ends after its visitor or a cited document was erased is dropped. Call it after a
 * lock on `conversation_stores`, for which an erasure waits.
 */
export async function withoutErased<Turn extends NewTurn>(
  transaction: Queryable,
  turns: readonly Turn[],
  digestOf: SubjectDigest,
): Promise<Turn[]> {
  const subjects = turns.map(({ organisationId, user, references }) => ({
    user: user === null ? undefined : digestOf(organisationId, 'user', user),
    documents: references.map(({ documentId }) => digestOf(organisationId, 'document', documentId)),
  }))
  const digests = [...new Set(subjects.flatMap(({ user, documents }) => [...(user ? [user] : []), ...documents]))]
  if (digests.length === 0) return [...turns]
  const rows = await transaction.query<{ digest: string; lastAt: Date }>(
    `SELECT subject_digest AS digest, max(requested_at) AS "lastAt" FROM erasures
      WHERE organisation_id = ANY($1::uuid[]) AND subject_digest = ANY($2::text[]) GROUP BY 1`,
    [[...new Set(turns.map(({ organisationId }) => organisationId))], digests],
  )
  const erasedAt = new Map(rows.map(({ digest, lastAt }) => [digest, lastAt.getTime()]))
  return turns.filter((turn, index) => {
    const { user, documents } = subjects[index]!
    // The id of an erased document is never used again; a visitor may come back.
    if (documents.some((digest) => erasedAt.has(digest))) return false
    return turn.atMs > (erasedAt.get(user ?? '') ?? Number.NEGATIVE_INFINITY)
  })
}
