import { hash, randomBytes } from 'node:crypto'
import type { MembershipRole } from '../contract/people.ts'
import type { Database } from '../database/index.ts'
import { AppError, type Clock, createUuid, describeError, isUuid, type Log } from '../kernel/index.ts'
import type { Actor } from '../operators/index.ts'
import { createAuthRows } from './auth-rows.store.ts'
import { createInvitationStore } from './invitations.store.ts'
import { createPeopleStore, type PeopleStore } from './people.store.ts'
import type { Invitation, NewPerson, Page, Person, PersonRecord } from './person.ts'
import { createPasswordResetStore } from './password-resets.store.ts'
import { createPasswordResets } from './password-resets.ts'
import { createSignIn } from './sign-in.ts'
import type { SingleSignOnSettings } from './single-sign-on.ts'
import { replaceValueOf, reencryptSecondFactors } from './second-factors.store.ts'
import { createSingleSignOnStore } from './single-sign-on.store.ts'
import type { AccountSecrets } from './two-factor-secrets.ts'

/** A link is valid for this time. */
const invitationMs = 7 * 24 * 3600_000
const removeExpiredEveryMs = 3600_000
/** 256 random bits. */
const invitationTokenBytes = 32

export interface AccountsDependencies extends AccountSecrets {
  database: Database
  publicUrl: string | undefined
  /** False: only single sign-on. */
  passwordSignIn: boolean
  singleSignOn: SingleSignOnSettings | undefined
  /** Calls the single sign-on provider. */
  fetch: typeof fetch
  clock: Clock
  log: Log
}

export type Accounts = ReturnType<typeof createAccounts>

interface NewAccount {
  email: string
  name: string
  password: string
}

/** People: their accounts, sessions, memberships and invitations. Every change is in the admin log. */
export function createAccounts(dependencies: AccountsDependencies) {
  const { database, publicUrl, passwordSignIn, singleSignOn, clock, log } = dependencies
  const store = createPeopleStore(database)
  const invitations = createInvitationStore(database)
  const signIn = openSignIn(dependencies, store)
  const stopCleaning = clock.every(removeExpiredEveryMs, () => {
    store.removeExpired(clock.now()).catch((error: unknown) => {
      log.warn({ error: describeError(error) }, 'expired sessions could not be removed')
    })
  })

  const signInMethods = { passwordSignIn, singleSignOn: singleSignOn ? { name: singleSignOn.name } : null }

  async function newPerson({ email, name, password }: NewAccount, isOperator: boolean): Promise<NewPerson> {
    const passwordHash = await signIn.hashPassword(password)
    return { id: createUuid(clock.now()), email, name, passwordHash, isOperator }
  }

  async function loadPerson(id: string): Promise<PersonRecord> {
    const person = isUuid(id) ? await store.loadPerson(id) : undefined
    if (!person) throw noPerson()
    return person
  }

  return {
    handleSignIn: signIn.handle,
    publicUrl,
    /** The address of a page of this server; only the path if its public address is not configured. */
    linkTo: (path: string) => (publicUrl === undefined ? path : new URL(path, publicUrl).href),

    /** The person of a session cookie; undefined without a valid session. */
    authenticate: signIn.findPerson,

    signInMethods,
    /** True until the first account exists. False if people cannot have passwords. */
    needsSetup: async () => passwordSignIn && !(await store.hasPeople()),
    passwordSignIn,
    /** The settings of single sign-on without its secret. */
    singleSignOn: singleSignOn && describeSingleSignOn(singleSignOn),

    /** Creates the first account, an operator. Throws `conflict` if there is an account. */
    async setUp(given: NewAccount, actor: Actor): Promise<PersonRecord> {
      if (await store.hasPeople()) throw alreadySetUp()
      const person = await newPerson(given, true)
      if (!(await store.createFirst(person, { actor, atMs: clock.now() }))) throw alreadySetUp()
      return loadPerson(person.id)
    },

    loadPerson,
    loadPersonPage: store.loadPersonPage,
    loadMemberships: store.loadMemberships,
    loadMemberPage: store.loadMemberPage,
    loadSessions: (personId: string) => store.loadSessions(personId, clock.now()),

    ...createPeopleChanges({ store, loadPerson, clock }),
    ...createInvitations({ invitations, newPerson, clock }),
    ...createPasswordResets({
      resets: createPasswordResetStore(database),
      hashPassword: signIn.hashPassword,
      unlock: signIn.unlock,
      clock,
    }),

    /** Encrypts the secrets of second factors with `secret` that are under `secondSecret`. */
    reencrypt: () => reencryptSecondFactors(database, dependencies),

    close(): void {
      stopCleaning()
    },
  }
}

function openSignIn({ singleSignOn, ...dependencies }: AccountsDependencies, store: PeopleStore) {
  const { database } = dependencies
  return createSignIn({
    ...dependencies,
    openRows: (findRecorded) => createAuthRows(database, findRecorded),
    replaceValue: replaceValueOf(database),
    store,
    singleSignOn: singleSignOn && { rules: singleSignOn, store: createSingleSignOnStore(database) },
  })
}

function describeSingleSignOn(settings: SingleSignOnSettings) {
  const { name, issuer, clientId, groupsClaim, allowedEmailDomains, sessionHours, roles } = settings
  return {
    name,
    issuer,
    clientId,
    groupsClaim,
    mappedGroups: new Set(roles.map(({ group }) => group)).size,
    createAccounts: settings.createAccounts,
    allowedEmailDomains: [...allowedEmailDomains],
    sessionHours,
  }
}

interface ChangeDependencies {
  store: PeopleStore
  loadPerson: (id: string) => Promise<PersonRecord>
  clock: Clock
}

function createPeopleChanges({ store, loadPerson, clock }: ChangeDependencies) {
  const change = (actor: Actor) => ({ actor, atMs: clock.now() })
  return {
    /** Throws `not_found`, also without a person: the operator token has no sessions. */
    async endSession(personId: string | undefined, sessionId: string, actor: Actor): Promise<void> {
      if (personId === undefined || !(await store.removeSession(personId, sessionId, change(actor))))
        throw new AppError('not_found', 'There is no session with this id.')
    },

    async setOperator(id: string, isOperator: boolean, actor: Actor): Promise<PersonRecord> {
      if (!isUuid(id) || !(await store.setOperator(id, isOperator, change(actor)))) throw noPerson()
      return loadPerson(id)
    },

    /** Throws `not_found`, also without a person: the operator token has no name. */
    async rename(id: string | undefined, name: string, actor: Actor): Promise<PersonRecord> {
      if (id === undefined || !(await store.rename(id, name, change(actor)))) throw noPerson()
      return loadPerson(id)
    },

    async removePerson(id: string, actor: Actor): Promise<void> {
      if (!isUuid(id) || !(await store.removePerson(id, change(actor)))) throw noPerson()
    },

    /** Sets the role of a member, or removes the member (null). */
    async changeMember(
      key: { organisationId: string; personId: string },
      role: MembershipRole | null,
      actor: Actor,
    ): Promise<void> {
      if (!(await store.changeMember(key, role, change(actor))))
        throw new AppError('not_found', 'There is no member with this id.')
    },
  }
}

interface InvitationDependencies {
  invitations: ReturnType<typeof createInvitationStore>
  newPerson: (given: NewAccount, isOperator: boolean) => Promise<NewPerson>
  clock: Clock
}

function createInvitations({ invitations, newPerson, clock }: InvitationDependencies) {
  async function findInvitation(token: string) {
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
      const token = randomBytes(invitationTokenBytes).toString('base64url')
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
      await invitations.insert({ ...invitation, tokenHash: hashInvitation(token) }, { actor, atMs: nowMs })
      return { invitation, token }
    },

    async removeInvitation(organisationId: string | null, id: string, actor: Actor): Promise<void> {
      if (!(await invitations.remove(organisationId, id, { actor, atMs: clock.now() }))) throw noInvitation()
    },

    /** Uses the link for the signed-in person, or creates the account of the invited email. Resolves to the id of the person. */
    async acceptInvitation(
      token: string,
      { person, account, requestId }: { person: Person | undefined; account: Partial<NewAccount>; requestId: string },
    ): Promise<string> {
      const { email, accountExists } = await findInvitation(token)
      if (!person && accountExists) throw signInFirst(email)
      const created = person ? undefined : await newPerson({ email, ...required(account) }, false)
      const by = created ? { created } : { personId: person!.id }
      const personId = created?.id ?? person!.id
      const actor: Actor = { name: email, requestId, personId, ...(person && { sessionId: person.sessionId }) }
      const outcome = await invitations.accept(hashInvitation(token), by, { actor, atMs: clock.now() })
      if (outcome === 'missing') throw noInvitation()
      if (outcome === 'account_exists') throw signInFirst(email)
      if (outcome === 'other_person')
        throw new AppError('conflict', `The invitation is for ${email}. Sign out, then open the link again.`)
      return personId
    },
  }
}

function required({ name, password }: Partial<NewAccount>): { name: string; password: string } {
  if (name !== undefined && password !== undefined) return { name, password }
  const param = name === undefined ? 'name' : 'password'
  throw new AppError('invalid_request', `${param}: is required to create an account.`, { param })
}

function hashInvitation(token: string): Uint8Array {
  return hash('sha256', token, 'buffer')
}

function noPerson(): AppError {
  return new AppError('not_found', 'There is no person with this id.')
}

function noInvitation(): AppError {
  return new AppError('not_found', 'There is no such invitation, or it was used, withdrawn or has expired.')
}

function signInFirst(email: string): AppError {
  return new AppError('conflict', `There is an account for ${email}. Sign in, then accept the invitation.`)
}

function alreadySetUp(): AppError {
  return new AppError('conflict', 'There is an account already. Operators invite further people.')
}
