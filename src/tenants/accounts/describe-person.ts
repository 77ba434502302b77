import type { InvitationBody, MemberBody, PersonBody } from '../../contract/people.ts'
import type { Invitation, Member, PersonRecord } from './person.ts'

/** The API's form of a person. */
export function describePerson(person: PersonRecord): PersonBody {
  return { ...person, createdAt: person.createdAt.toISOString() }
}

export function describeMember(member: Member): MemberBody {
  return { ...member, createdAt: member.createdAt.toISOString() }
}

export function describeInvitation(invitation: Omit<Invitation, 'organisationName'>): InvitationBody {
  const { id, email, role, invitedBy, createdAt, expiresAt } = invitation
  return { id, email, role, invitedBy, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() }
}
