import type { Queryable, RecordChange } from '../../platform/database/index.ts'
import type { Clock } from '../../platform/kernel/index.ts'
import { type Actor, changedFields, recordAdminChange } from '../../tenants/operators/index.ts'
import { modelsTopic, providersTopic } from './create-catalogue.ts'

export interface RecordDependencies {
  recordChange: RecordChange
  clock: Clock
}

/** Who changes something, and the version that was read, as `assertVersion` has it. */
export interface ChangedBy {
  actor: Actor
  ifMatch?: string | undefined
}

interface RecordedChange {
  actor: Actor
  subjectType: 'provider' | 'model' | 'deployment' | 'price'
  subjectId: string
  /** null: created. */
  before: Record<string, unknown> | null
  /** null: removed. */
  after: Record<string, unknown> | null
}

/** Writes the admin log and the change feed; nothing if no field changed. */
export async function record(
  { recordChange, clock }: RecordDependencies,
  transaction: Queryable,
  { actor, subjectType, subjectId, before, after }: RecordedChange,
): Promise<void> {
  const verb = before === null ? 'created' : after === null ? 'removed' : 'updated'
  const changed =
    before && after ? changedFields({ ...emptied(after, before) }, emptied(before, after)) : { before, after }
  if (!changed) return
  await recordAdminChange(transaction, {
    actor,
    atMs: clock.now(),
    action: `${subjectType}.${verb}` as const,
    subjectType,
    subjectId,
    organisationId: null,
    ...changed,
  })
  await recordChange(transaction, subjectType === 'provider' ? providersTopic : modelsTopic, subjectId)
}

export const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** `subject` with a null for each further field of `other`, so that a removed field counts as a change. */
function emptied(other: Record<string, unknown>, subject: Record<string, unknown>): Record<string, unknown> {
  return { ...Object.fromEntries(Object.keys(other).map((name) => [name, null])), ...subject }
}
