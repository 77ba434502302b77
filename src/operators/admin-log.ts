import type { OrganisationId } from '../kernel/index.ts'

/** The author of a change in the admin log. */
export interface Actor {
  /** The email of a person, `operator` (the operator token) or `service` (the first start). */
  readonly name: string
  /** The HTTP request of the change; null if there was none. */
  readonly requestId: string | null
  /** The signed-in person and the session; absent for the operator token and the service. */
  readonly personId?: string
  readonly sessionId?: string
}

/** The author of a change that a request makes: its person, or the operator token. */
export function actorOf({ requestId, person }: { requestId: string; person: ActingPerson | undefined }): Actor {
  if (!person) return { name: 'operator', requestId }
  return { name: person.email, requestId, personId: person.id, sessionId: person.sessionId }
}

interface ActingPerson {
  readonly id: string
  readonly email: string
  readonly sessionId: string
}

/** The service itself, at its first start. */
export const serviceActor: Actor = { name: 'service', requestId: null }

export interface AdminLogEntry {
  id: string
  at: Date
  actor: string
  requestId: string | null
  personId: string | null
  sessionId: string | null
  /** `organisation.updated`, `api_key.rotated` … */
  action: string
  subjectType: string
  subjectId: string
  organisationId: OrganisationId | null
  /** The changed fields before and after; null if the subject did not exist. Without secrets. */
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

export type NewAdminLogEntry = Omit<AdminLogEntry, 'id' | 'at' | 'actor' | 'requestId' | 'personId' | 'sessionId'> & {
  actor: Actor
  atMs: number
}

export interface AdminLog {
  /** Newest first. */
  loadPage(filter: { organisationId?: string; limit: number; offset: number }): Promise<{
    total: number
    entries: AdminLogEntry[]
  }>
}

/** The fields that differ, with both values; null if there are none. Values must be JSON. */
export function changedFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): { before: Record<string, unknown>; after: Record<string, unknown> } | null {
  const names = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  if (names.length === 0) return null
  const pick = (source: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(names.map((name) => [name, source[name] ?? null]))
  return { before: pick(before), after: pick(after) }
}
