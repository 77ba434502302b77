import type { AdminAction } from '../../contract/admin-log.ts'
import type { MembershipRole } from '../../contract/people.ts'
import { countRows, type Database, type Queryable } from '../../platform/database/index.ts'
import { assertVersion, createUuid, isUuid, sharedOwner } from '../../platform/kernel/index.ts'
import { type Actor, recordAdminChange } from '../operators/index.ts'
import { endLinksOf } from './issued-links.store.ts'
import type { PasswordAccount } from './known-devices.ts'
import {
  type Member,
  type Membership,
  type NewPerson,
  type Page,
  type Person,
  type PersonRecord,
  type SessionRecord,
  versionedMember,
  versionedPerson,
} from './person.ts'

/** The actor and the time of a change. */
export interface Change {
  actor: Actor
  atMs: number
}

const personColumns = `p.id, p.email, p.email_verified AS "emailVerified", p.name, p.is_operator AS "isOperator",
  p.two_factor_enabled AS "twoFactorEnabled", p.created_at AS "createdAt",
  EXISTS (SELECT 1 FROM people_accounts a WHERE a.person_id = p.id AND a.provider_id = 'credential') AS "hasPassword",
  EXISTS (SELECT 1 FROM people_accounts a WHERE a.person_id = p.id AND a.provider_id = 'sso') AS "usesSingleSignOn"`

export function createPeopleStore(database: Database) {
  return {
    ...createReads(database),
    ...createSessionChanges(database),
    ...createMemberChanges(database),

    /** Creates the first account. Resolves to false if there is one, also when several instances do this at the same time. */
    createFirst: (person: NewPerson, change: Change): Promise<boolean> =>
      database.for(sharedOwner).transaction(async (transaction) => {
        await transaction.execute(`LOCK TABLE people IN SHARE ROW EXCLUSIVE MODE`)
        const [existing] = await transaction.query(`SELECT 1 FROM people LIMIT 1`)
        if (existing || !(await insertPerson(transaction, person, change))) return false
        await joinOnlyOrganisation(transaction, person.id, change)
        return true
      }),

    setOperator: (
      id: string,
      { isOperator, acceptUnverifiedEmail }: { isOperator: boolean; acceptUnverifiedEmail: boolean },
      change: Change,
      ifMatch?: string,
    ): Promise<'done' | 'missing' | 'unverified'> =>
      database.for(sharedOwner).transaction(async (transaction) => {
        const [before] = await transaction.query<{
          name: string
          isOperator: boolean
          email: string
          emailVerified: boolean
        }>(
          `SELECT name, is_operator AS "isOperator", email, email_verified AS "emailVerified"
             FROM people WHERE id = $1 FOR UPDATE`,
          [id],
        )
        if (!before) return 'missing'
        assertVersion(ifMatch, versionedPerson(before))
        if (before.isOperator === isOperator) return 'done'
        if (isOperator && !before.emailVerified && !acceptUnverifiedEmail) return 'unverified'
        await transaction.execute(
          `UPDATE people SET is_operator = $2, operator_from_groups = false, updated_at = $3 WHERE id = $1`,
          [id, isOperator, new Date(change.atMs)],
        )
        await record(transaction, change, 'person.updated', id, null, {
          before: { email: before.email, isOperator: before.isOperator },
          after: { email: before.email, isOperator },
        })
        if (!isOperator) await endLinksOf(transaction, id, change)
        return 'done'
      }),

    /** Resolves to false if there is no such person. */
    rename: (id: string, name: string, change: Change, ifMatch?: string): Promise<boolean> =>
      database.for(id).transaction(async (transaction) => {
        const [row] = await transaction.query<{ name: string; email: string; isOperator: boolean }>(
          `SELECT name, email, is_operator AS "isOperator" FROM people WHERE id = $1 FOR UPDATE`,
          [id],
        )
        if (!row) return false
        const { isOperator, ...before } = row
        assertVersion(ifMatch, versionedPerson({ ...before, isOperator }))
        if (before.name === name) return true
        const at = new Date(change.atMs)
        await transaction.execute(`UPDATE people SET name = $2, updated_at = $3 WHERE id = $1`, [id, name, at])
        await record(transaction, change, 'person.updated', id, null, { before, after: { ...before, name } })
        return true
      }),

    /** Removes the account with its sessions and memberships. Resolves to false if there is no such person. */
    removePerson: (id: string, change: Change): Promise<boolean> =>
      database.for(sharedOwner).transaction(async (transaction) => {
        const [removed] = await transaction.query<{ email: string; name: string }>(
          `DELETE FROM people WHERE id = $1 RETURNING email, name`,
          [id],
        )
        if (!removed) return false
        await record(transaction, change, 'person.removed', id, null, { before: removed, after: null })
        return true
      }),
  }
}

export type PeopleStore = ReturnType<typeof createPeopleStore>

/** Inserts the account, and records it. Resolves to false if the email has an account, also one made meanwhile. */
export async function insertPerson(transaction: Queryable, person: NewPerson, change: Change): Promise<boolean> {
  const at = new Date(change.atMs)
  const inserted = await transaction.execute(
    `INSERT INTO people (id, name, email, email_verified, is_operator, created_at, updated_at)
     VALUES ($1, $2, $3, $6, $4, $5, $5) ON CONFLICT (email) DO NOTHING`,
    [person.id, person.name, person.email, person.isOperator, at, person.passwordHash === null],
  )
  if (inserted === 0) return false
  if (person.passwordHash !== null) await setPassword(transaction, person.id, person.passwordHash, change.atMs)
  await record(transaction, change, 'person.created', person.id, null, {
    before: null,
    after: { email: person.email, name: person.name, isOperator: person.isOperator },
  })
  return true
}

/** On a fresh installation the first person becomes administrator of the demo organisation, and has pages to begin with. */
async function joinOnlyOrganisation(transaction: Queryable, personId: string, change: Change): Promise<void> {
  const organisations = await transaction.query<{ id: string }>(`SELECT id FROM organisations LIMIT 2`)
  const [only] = organisations
  if (!only || organisations.length > 1) return
  await putMembership(transaction, { organisationId: only.id, personId, role: 'administrator' }, change)
}

/** Sets the password of a person, who may have none. */
export async function setPassword(
  transaction: Queryable,
  personId: string,
  passwordHash: string,
  atMs: number,
): Promise<void> {
  await transaction.execute(
    `INSERT INTO people_accounts (id, person_id, provider_id, account_id, password, created_at, updated_at)
     VALUES ($1, $2, 'credential', $3, $4, $5, $5)
     ON CONFLICT (provider_id, account_id) DO UPDATE SET password = excluded.password, updated_at = excluded.updated_at`,
    [createUuid(atMs), personId, personId, passwordHash, new Date(atMs)],
  )
}

/** Ends the sessions of a person, and the sign-ins that wait for the second factor: a former password has begun them. */
export async function endSignIns(transaction: Queryable, personId: string): Promise<void> {
  await transaction.execute(`DELETE FROM people_sessions WHERE person_id = $1`, [personId])
  await endChallenges(transaction, personId)
}

/** The table has rows of the last minutes only. */
async function endChallenges(queryable: Queryable, personId: string): Promise<void> {
  await queryable.execute(`DELETE FROM people_verifications WHERE value = $1`, [personId])
}

export async function removeSecondFactor(transaction: Queryable, personId: string): Promise<void> {
  await transaction.execute(`DELETE FROM people_two_factors WHERE person_id = $1`, [personId])
  await transaction.execute(`UPDATE people SET two_factor_enabled = false WHERE id = $1`, [personId])
}

interface MembershipChange {
  organisationId: string
  personId: string
  role: MembershipRole
  /** The role follows the groups of single sign-on. */
  fromGroups?: boolean
}

/** Adds or changes a membership, and records it. */
export async function putMembership(
  transaction: Queryable,
  { organisationId, personId, role, fromGroups = false }: MembershipChange,
  change: Change,
): Promise<void> {
  const [before] = await transaction.query<{ role: string }>(
    `SELECT role FROM people_memberships WHERE organisation_id = $1 AND person_id = $2 FOR UPDATE`,
    [organisationId, personId],
  )
  const [person] = await transaction.query<{ email: string }>(`SELECT email FROM people WHERE id = $1`, [personId])
  await transaction.execute(
    `INSERT INTO people_memberships (organisation_id, person_id, role, created_at, from_groups) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (organisation_id, person_id) DO UPDATE SET role = excluded.role, from_groups = excluded.from_groups`,
    [organisationId, personId, role, new Date(change.atMs), fromGroups],
  )
  const action = before ? 'member.updated' : 'member.added'
  await record(transaction, change, action, personId, organisationId, {
    before: before ? { ...before, ...person } : null,
    after: { role, ...person },
  })
  if (before?.role === 'administrator' && role !== 'administrator') await endLinksOf(transaction, personId, change)
}

export function record(
  transaction: Queryable,
  { actor, atMs }: Change,
  action: AdminAction,
  subjectId: string,
  organisationId: string | null,
  values: { before: Record<string, unknown> | null; after: Record<string, unknown> | null },
): Promise<void> {
  return recordAdminChange(transaction, {
    actor,
    atMs,
    action,
    subjectType: 'person',
    subjectId,
    organisationId: organisationId as never,
    ...values,
  })
}

function createReads(database: Database) {
  const shared = database.for(sharedOwner)
  return {
    async hasPeople(): Promise<boolean> {
      return (await shared.query(`SELECT 1 FROM people LIMIT 1`)).length > 0
    },
    async loadPerson(id: string): Promise<PersonRecord | undefined> {
      const [person] = await database
        .for(id)
        .query<PersonRecord>(`SELECT ${personColumns} FROM people p WHERE p.id = $1`, [id])
      return person
    },
    /** The account whose password this e-mail or person has. */
    async loadPasswordAccount(of: { email: string } | { personId: string | undefined }) {
      const [condition, value] = 'email' in of ? ['p.email = $1', of.email] : ['p.id = $1', of.personId ?? null]
      const [account] = await shared.query<PasswordAccount>(
        `SELECT p.id AS "personId", a.password AS "passwordHash" FROM people p JOIN people_accounts a ON a.person_id = p.id
          WHERE ${condition} AND a.provider_id = 'credential'`,
        [value],
      )
      return account
    },
    /** The person of a valid session, with all roles. Without `withPassword`, only of a session of single sign-on, which has a final time. */
    async loadSessionPerson(tokenHash: string, nowMs: number, withPassword: boolean): Promise<Person | undefined> {
      const [row] = await shared.query<Omit<Person, 'memberships'> & { memberships: Record<string, MembershipRole> }>(
        `SELECT p.id, p.email, p.name, p.is_operator AS "isOperator", s.id AS "sessionId",
           (SELECT coalesce(jsonb_object_agg(m.organisation_id, m.role), '{}')
              FROM people_memberships m WHERE m.person_id = p.id) AS memberships
           FROM people_sessions s JOIN people p ON p.id = s.person_id
          WHERE s.token_hash = $1 AND s.expires_at > $2 AND ($3 OR s.final_at IS NOT NULL)`,
        [tokenHash, new Date(nowMs), withPassword],
      )
      return row && { ...row, memberships: new Map(Object.entries(row.memberships)) }
    },
    /** By email; `search` is a part of the email or the name. */
    async loadPersonPage({ limit, offset, search }: Page & { search?: string | undefined }) {
      const matches = `($1::text IS NULL OR position(lower($1) IN p.email) > 0 OR position(lower($1) IN lower(p.name)) > 0)`
      const part = search || null
      const total = await countRows(shared, `people p WHERE ${matches}`, [part])
      const people = await shared.query<PersonRecord>(
        `SELECT ${personColumns} FROM people p WHERE ${matches} ORDER BY p.email LIMIT $2 OFFSET $3`,
        [part, limit, offset],
      )
      return { total, people }
    },
    loadMemberships(personId: string): Promise<Membership[]> {
      return database.for(personId).query<Membership>(
        `SELECT o.id, o.name, m.role
           FROM people_memberships m JOIN organisations o ON o.id = m.organisation_id
          WHERE m.person_id = $1 ORDER BY o.name, o.id`,
        [personId],
      )
    },
    async loadMemberPage(organisationId: string, { limit, offset }: Page) {
      const own = database.for(organisationId)
      const total = await countRows(own, 'people_memberships WHERE organisation_id = $1', [organisationId])
      const members = await own.query<Member>(
        `SELECT m.person_id AS "personId", p.email, p.email_verified AS "emailVerified", p.name, m.role, m.created_at AS "createdAt"
           FROM people_memberships m JOIN people p ON p.id = m.person_id
          WHERE m.organisation_id = $1 ORDER BY p.email LIMIT $2 OFFSET $3`,
        [organisationId, limit, offset],
      )
      return { total, members }
    },
    /** Newest first; at most 100. */
    loadSessions(personId: string, nowMs: number): Promise<SessionRecord[]> {
      return database.for(personId).query<SessionRecord>(
        `SELECT id, ip_address AS "ipAddress", user_agent AS "userAgent", created_at AS "createdAt", expires_at AS "expiresAt"
           FROM people_sessions WHERE person_id = $1 AND expires_at > $2 ORDER BY created_at DESC, id DESC LIMIT 100`,
        [personId, new Date(nowMs)],
      )
    },
  }
}

function createMemberChanges(database: Database) {
  return {
    /** Changes the role, or removes the member (null). Resolves to false if there is no such member. */
    changeMember: (
      { organisationId, personId }: { organisationId: string; personId: string },
      role: MembershipRole | null,
      change: Change,
      ifMatch?: string,
    ): Promise<boolean> =>
      database.for(organisationId).transaction(async (transaction) => {
        if (!isUuid(organisationId) || !isUuid(personId)) return false
        const [before] = await transaction.query<{ role: MembershipRole; email: string }>(
          `SELECT m.role, p.email FROM people_memberships m JOIN people p ON p.id = m.person_id
            WHERE m.organisation_id = $1 AND m.person_id = $2 FOR UPDATE OF m`,
          [organisationId, personId],
        )
        if (!before) return false
        assertVersion(ifMatch, versionedMember(before))
        const key = [organisationId, personId]
        if (role === null) {
          await transaction.execute(`DELETE FROM people_memberships WHERE organisation_id = $1 AND person_id = $2`, key)
        } else {
          await transaction.execute(
            `UPDATE people_memberships SET role = $3, from_groups = false WHERE organisation_id = $1 AND person_id = $2`,
            [...key, role],
          )
        }
        await record(
          transaction,
          change,
          role === null ? 'member.removed' : 'member.updated',
          personId,
          organisationId,
          { before, after: role === null ? null : { role, email: before.email } },
        )
        if (role !== 'administrator') await endLinksOf(transaction, personId, change)
        return true
      }),
  }
}

function createSessionChanges(database: Database) {
  return {
    /** Resolves to false if the person has no such session. */
    removeSession: (personId: string, sessionId: string, change: Change): Promise<boolean> =>
      database.for(personId).transaction(async (transaction) => {
        if (!isUuid(sessionId)) return false
        const [removed] = await transaction.query<{ createdAt: Date; userAgent: string | null }>(
          `DELETE FROM people_sessions WHERE id = $1 AND person_id = $2
           RETURNING created_at AS "createdAt", user_agent AS "userAgent"`,
          [sessionId, personId],
        )
        if (!removed) return false
        const before = { sessionId, userAgent: removed.userAgent, createdAt: removed.createdAt.toISOString() }
        await record(transaction, change, 'person.session_ended', personId, null, { before, after: null })
        return true
      }),
    /** Ends the sign-ins of a person that wait for the second factor. */
    endChallenges: (personId: string) => endChallenges(database.for(personId), personId),
    /** Removes what can no longer be used. */
    async removeExpired(nowMs: number): Promise<void> {
      const now = new Date(nowMs)
      const shared = database.for(sharedOwner)
      await shared.execute(`DELETE FROM people_sessions WHERE expires_at < $1`, [now], { background: true })
      await shared.execute(`DELETE FROM people_password_resets WHERE expires_at < $1`, [now], { background: true })
      await shared.execute(`DELETE FROM people_verifications WHERE expires_at < $1`, [now], { background: true })
      await shared.execute(`DELETE FROM people_attempts WHERE window_ends_at < $1`, [now], { background: true })
    },
  }
}
