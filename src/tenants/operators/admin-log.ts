import type { AdminAction } from '../../contract/admin-log.ts'
import type { OrganisationId } from '../../platform/kernel/index.ts'

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

export interface AdminLogSubject {
  subjectType: string
  subjectId: string
  organisationId: OrganisationId | null
}

/** The changed fields; null if the subject did not exist. Without secrets. */
type Fields = Record<string, unknown> | null

export interface AdminLogEntry extends AdminLogSubject {
  before: Fields
  after: Fields
  id: string
  at: Date
  actor: string
  requestId: string | null
  personId: string | null
  sessionId: string | null
  /** One of `adminActions`, or an action of an earlier version. */
  action: string
  /** The current name of the subject, else its name in this entry. */
  subjectName: string | null
  organisationName: string | null
}

export interface NewAdminLogEntry extends AdminLogSubject {
  /** Absent: null. */
  before?: Fields
  after?: Fields
  /** For entries that may be written again; a second one with the same id is dropped. */
  id?: string
  actor: Actor
  atMs: number
  action: AdminAction
}

export interface AdminLogSelection {
  organisationId?: string | undefined
  actor?: string | undefined
  action?: string | undefined
  subjectType?: string | undefined
  subjectId?: string | undefined
  /** ISO 8601: from included, to not. */
  from?: string | undefined
  to?: string | undefined
}

export interface AdminLogFilter extends AdminLogSelection {
  /** `nextCursor` of the page before. */
  cursor?: string | undefined
  limit: number
}

export interface AdminLog {
  /** Newest first. */
  loadPage(filter: AdminLogFilter): Promise<{ entries: AdminLogEntry[]; nextCursor: string | null }>
  /** The entries up to now in pages, oldest first, after a new entry that records who exports. */
  export(actor: Actor, format: string, selection: AdminLogSelection): Promise<AsyncIterable<AdminLogEntry[]>>
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
