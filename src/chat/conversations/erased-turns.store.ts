import type { Queryable } from '../../platform/database/index.ts'
import type { NewTurn } from './turn.ts'

/** The keyed digest of a visitor or a document, as the table `erasures` has it. */
export type SubjectDigest = (organisationId: string, kind: 'user' | 'document', value: string) => string

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
