import { versionOf } from '../../platform/kernel/index.ts'
import type { InvitationBody, MemberBody, MembershipRole, PersonBody } from '../../contract/people.ts'

/** A signed-in person, as src/platform/http/caller.ts expects it. */
export interface Person {
  id: string
  email: string
  name: string
  isOperator: boolean
  /** By id of the organisation. */
  memberships: ReadonlyMap<string, MembershipRole>
  sessionId: string
}

/** A person's account without secrets. */
export interface PersonRecord {
  id: string
  email: string
  /** Single sign-on has verified that the person owns the e-mail. */
  emailVerified: boolean
  name: string
  isOperator: boolean
  twoFactorEnabled: boolean
  hasPassword: boolean
  usesSingleSignOn: boolean
  createdAt: Date
}

export interface NewAccount {
  email: string
  name: string
  password: string
}

export interface NewPerson {
  id: string
  email: string
  name: string
  /** null: signs in at the single sign-on provider, which has verified the email. */
  passwordHash: string | null
  isOperator: boolean
}

/** The role of a person in the organisation with this id and name. */
export interface Membership {
  id: string
  name: string
  role: MembershipRole
}

export interface Member {
  personId: string
  email: string
  emailVerified: boolean
  name: string
  role: MembershipRole
  createdAt: Date
}

export interface SessionRecord {
  id: string
  ipAddress: string | null
  userAgent: string | null
  createdAt: Date
  expiresAt: Date
}

export interface Invitation {
  id: string
  email: string
  role: MembershipRole | 'operator'
  /** null: an invitation to become an operator. */
  organisationId: string | null
  organisationName: string | null
  /** Name of the actor in the admin log. */
  invitedBy: string
  createdAt: Date
  expiresAt: Date
}

export interface Page {
  limit: number
  offset: number
}

/** A person as the single sign-on provider states it. */
export interface Identity {
  /** Issuer and subject. */
  accountId: string
  issuer: string
  /** In lower case; empty if the provider states none. */
  email: string
  isVerified: boolean
  name: string
  groups: string[]
}

/** The roles that the groups of a person give. */
export interface GroupRoles {
  isOperator: boolean
  /** By id of the organisation. */
  memberships: ReadonlyMap<string, MembershipRole>
}

/** A link with which a person sets a new password. */
export interface PasswordReset {
  personId: string
  email: string
  name: string
  removesSecondFactor: boolean
  expiresAt: Date
}

/** The API's form of a person. */
export function describePerson(person: PersonRecord): PersonBody {
  return { ...person, version: versionOf(versionedPerson(person)), createdAt: person.createdAt.toISOString() }
}

export function describeMember(member: Member): MemberBody {
  return { ...member, version: versionOf(versionedMember(member)), createdAt: member.createdAt.toISOString() }
}

/** What others can change of an account, for `assertVersion`. */
export const versionedPerson = ({ name, isOperator }: Pick<PersonRecord, 'name' | 'isOperator'>) => ({
  name,
  isOperator,
})

export const versionedMember = ({ role }: Pick<Member, 'role'>) => ({ role })

export function describeInvitation(invitation: Omit<Invitation, 'organisationName'>): InvitationBody {
  const { id, email, role, invitedBy, createdAt, expiresAt } = invitation
  return { id, email, role, invitedBy, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() }
}
