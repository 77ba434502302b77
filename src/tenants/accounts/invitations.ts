import { hash, randomBytes } from 'node:crypto'
import { AppError, type Clock, createUuid, invalidField } from '../../platform/kernel/index.ts'
import type { Actor } from '../operators/index.ts'
import type { createInvitationStore } from './invitations.store.ts'
import type { Invitation, NewAccount, NewPerson, Page, Person } from './person.ts'

/** A link is valid for this time. */
const invitationMs = 7 * 24 * 3600_000
/** 256 random bits. */
const tokenBytes = 32

interface InvitationDependencies {
  invitations: ReturnType<typeof createInvitationStore>
  newPerson: (given: NewAccount, isOperator: boolean) => Promise<NewPerson>
  /** Counts a use of a link. */
  countLink: (kind: 'invitation', clientAddress: string) => Promise<void>
  clock: Clock
}

interface AcceptedBy {
  person: Person | undefined
  /** Of a person who is not signed in. */
  account: Partial<NewAccount>
  requestId: string
  clientAddress: string
}

/** Links that the inviter passes on. Portico sends no e-mail, so a link does not prove that its user owns the invited e-mail. */
export function createInvitations({ invitations, newPerson, countLink, clock }: InvitationDependencies) {
  async function findInvitation(token: string, clientAddress: string) {
    await countLink('invitation', clientAddress)
    const invitation = await invitations.findByToken(hashInvitation(token), clock.now())
    if (!invitation) throw noInvitation()
    return invitation
  }

  return {
    findInvitation,

    loadInvitationPage: (organisationId: string | null, page: Page) =>
      invitations.loadPage(organisationId, page, clock.now()),

    /** `organisationId` null: an invitation to become an operator. The token is returned only here. */
    async invite(
      { email, role, organisationId }: Pick<Invitation, 'email' | 'role' | 'organisationId'>,
      actor: Actor,
    ): Promise<{ invitation: Omit<Invitation, 'organisationName'>; token: string }> {
      const token = randomBytes(tokenBytes).toString('base64url')
      const nowMs = clock.now()
      const invitation = {
        id: createUuid(nowMs),
        email,
        role,
        organisationId,
        invitedBy: actor.name,
        createdAt: new Date(nowMs),
        expiresAt: new Date(nowMs + invitationMs),
      }
      const invitedByPerson = actor.personId ?? null
      const tokenHash = hashInvitation(token)
      await invitations.insert({ ...invitation, invitedByPerson, tokenHash }, { actor, atMs: nowMs })
      return { invitation, token }
    },

    async removeInvitation(organisationId: string | null, id: string, actor: Actor): Promise<void> {
      if (!(await invitations.remove(organisationId, id, { actor, atMs: clock.now() }))) throw noInvitation()
    },

    /** Uses the link for the signed-in person, or creates the account of the invited email. Resolves to the id of the person. */
    async acceptInvitation(token: string, { person, account, requestId, clientAddress }: AcceptedBy): Promise<string> {
      const { email } = await findInvitation(token, clientAddress)
      // The same steps whether or not there is an account, so that the link does not show it.
      const created = person ? undefined : await newPerson({ email, ...required(account) }, false)
      const by = created ? { created } : { personId: person!.id }
      const personId = created?.id ?? person!.id
      const actor: Actor = { name: email, requestId, personId, ...(person && { sessionId: person.sessionId }) }
      const outcome = await invitations.accept(hashInvitation(token), by, { actor, atMs: clock.now() })
      if (outcome === 'missing') throw noInvitation()
      if (outcome === 'account_exists')
        throw new AppError('conflict', `Sign in to the account of ${email}, then accept the invitation.`)
      if (outcome === 'other_person')
        throw new AppError('conflict', `The invitation is for ${email}. Sign out, then open the link again.`)
      return personId
    },
  }
}

function required({ name, password }: Partial<NewAccount>): { name: string; password: string } {
  if (name !== undefined && password !== undefined) return { name, password }
  const param = name === undefined ? 'name' : 'password'
  throw invalidField(param, `${param}: is required to create an account.`)
}

function hashInvitation(token: string): Uint8Array {
  return hash('sha256', token, 'buffer')
}

function noInvitation(): AppError {
  return new AppError('not_found', 'There is no such invitation, or it was used, withdrawn or has expired.')
}
