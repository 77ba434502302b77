import type { MembershipRole } from '../../contract/people.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  AppError,
  type Clock,
  createUuid,
  describeError,
  isUuid,
  type Log,
  type SecretBox,
  sharedOwner,
} from '../../platform/kernel/index.ts'
import type { Actor } from '../operators/index.ts'
import { createAttemptStore } from './attempts.store.ts'
import { createAuthRows } from './auth-rows.store.ts'
import { createInvitations } from './invitations.ts'
import { createInvitationStore } from './invitations.store.ts'
import { createPeopleStore, type PeopleStore } from './people.store.ts'
import type { NewAccount, NewPerson, PersonRecord } from './person.ts'
import { createPasswordResetStore } from './password-resets.store.ts'
import { createPasswordResets } from './password-resets.ts'
import { createSignIn } from './sign-in.ts'
import type { PasswordHashing } from './sign-in-library.ts'
import { previewAdmission, type SingleSignOnSettings } from './single-sign-on.ts'
import { createSingleSignOnSetup } from './single-sign-on-setup.ts'
import { createSingleSignOnSetupStore } from './single-sign-on-setup.store.ts'
import { replaceValueOf, reencryptSecondFactors } from './second-factors.store.ts'
import { createSingleSignOnStore } from './single-sign-on.store.ts'
import type { AccountSecrets } from './two-factor-secrets.ts'

const removeExpiredEveryMs = 3600_000

export interface AccountsDependencies extends AccountSecrets {
  database: Database
  publicUrl: string | undefined
  /** False: only single sign-on. */
  passwordSignIn: boolean
  /** Of the configuration; otherwise operators may set it up in the console. */
  singleSignOn: SingleSignOnSettings | undefined
  secretBox: SecretBox
  /** Calls the single sign-on provider. */
  fetch: typeof fetch
  /** Tests pass a cheap one. */
  passwordHashing?: PasswordHashing | undefined
  clock: Clock
  log: Log
}

export type Accounts = ReturnType<typeof createAccounts>

/** People: their accounts, sessions, memberships and invitations. Every change is in the admin log. */
export function createAccounts(dependencies: AccountsDependencies) {
  const { database, publicUrl, passwordSignIn, clock, log } = dependencies
  const store = createPeopleStore(database)
  const { signIn, singleSignOn } = openSignIn(dependencies, store)
  const stopCleaning = clock.every(removeExpiredEveryMs, () => {
    Promise.all([store.removeExpired(clock.now()), singleSignOn.removeExpired()]).catch((error: unknown) => {
      log.warn({ error: describeError(error) }, 'expired sessions could not be removed')
    })
  })

  async function newPerson({ email, name, password }: NewAccount, isOperator: boolean): Promise<NewPerson> {
    const passwordHash = await signIn.hashPassword(password, { email, name })
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

    async signInMethods() {
      const name = await singleSignOn.label()
      return { passwordSignIn, singleSignOn: name === undefined ? null : { name } }
    },
    /** True until the first account exists. False if people cannot have passwords. */
    needsSetup: async () => passwordSignIn && !(await store.hasPeople()),
    passwordSignIn,
    singleSignOn,
    /** The settings of single sign-on that are in force, without the secret; undefined: it is off. */
    describeSingleSignOn: () => singleSignOn.load().then((settings) => settings && describeSettings(settings)),

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
    ...createInvitations({
      invitations: createInvitationStore(database),
      newPerson,
      countLink: signIn.countLink,
      clock,
    }),
    ...createPasswordResets({
      resets: createPasswordResetStore(database.for(sharedOwner)),
      hashPassword: signIn.hashPassword,
      countLink: signIn.countLink,
      unlock: signIn.unlock,
      clock,
    }),

    /** Encrypts the secrets of second factors with `secret` that are under `secondSecret`. */
    reencrypt: () => reencryptSecondFactors(database.for(sharedOwner), dependencies),

    close(): void {
      stopCleaning()
    },
  }
}

function openSignIn({ singleSignOn: configured, ...dependencies }: AccountsDependencies, store: PeopleStore) {
  const { database, clock } = dependencies
  const shared = database.for(sharedOwner)
  const admissions = createSingleSignOnStore(shared)
  const setup = createSingleSignOnSetup({
    ...dependencies,
    configured,
    store: createSingleSignOnSetupStore(shared),
    preview: previewAdmission({ store: admissions, clock }),
  })
  const signIn = createSignIn({
    ...dependencies,
    openRows: (findRecorded) => createAuthRows(shared, findRecorded),
    replaceValue: replaceValueOf(shared),
    store,
    attempts: createAttemptStore(shared),
    singleSignOn: { setup, store: admissions },
  })
  return { signIn, singleSignOn: setup }
}

function describeSettings(settings: SingleSignOnSettings) {
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

    /** Throws `conflict` for a new operator without a verified e-mail, unless that is accepted. */
    async setOperator(
      id: string,
      { isOperator, acceptUnverifiedEmail }: { isOperator: boolean; acceptUnverifiedEmail: boolean },
      actor: Actor,
      ifMatch?: string,
    ): Promise<PersonRecord> {
      const given = { isOperator, acceptUnverifiedEmail }
      const outcome = isUuid(id) ? await store.setOperator(id, given, change(actor), ifMatch) : 'missing'
      if (outcome === 'missing') throw noPerson()
      if (outcome === 'unverified') throw unverifiedEmail()
      return loadPerson(id)
    },

    /** Throws `not_found`, also without a person: the operator token has no name. */
    async rename(id: string | undefined, name: string, actor: Actor, ifMatch?: string): Promise<PersonRecord> {
      if (id === undefined || !(await store.rename(id, name, change(actor), ifMatch))) throw noPerson()
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
      ifMatch?: string,
    ): Promise<void> {
      if (!(await store.changeMember(key, role, change(actor), ifMatch)))
        throw new AppError('not_found', 'There is no member with this id.')
    },
  }
}

function noPerson(): AppError {
  return new AppError('not_found', 'There is no person with this id.')
}

function unverifiedEmail(): AppError {
  return new AppError(
    'conflict',
    'acceptUnverifiedEmail: must be true, because nobody has verified that the person owns the e-mail of the account.',
    { param: 'acceptUnverifiedEmail' },
  )
}

function alreadySetUp(): AppError {
  return new AppError('conflict', 'There is an account already. Operators invite further people.')
}
