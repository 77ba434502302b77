import { createHmac, hash, randomBytes } from 'node:crypto'
import type {
  PutSingleSignOn,
  SingleSignOnBody,
  SingleSignOnTest,
  StartedSingleSignOnTest,
  StoredSingleSignOn,
} from '../../contract/single-sign-on.ts'
import {
  AppError,
  assertVersion,
  type Clock,
  createUuid,
  describeError,
  type Log,
  lookupHash,
  notMetadata,
  type SecretBox,
  toStorable,
  versionOf,
  invalidField,
} from '../../platform/kernel/index.ts'
import { type Actor, changedFields } from '../operators/index.ts'
import { createIdentityProvider, type IdentityProvider, SingleSignOnError } from './identity-provider.ts'
import type { Identity, Person } from './person.ts'
import { authPath } from './sign-in-request.ts'
import { callbackPath } from './sign-in-endpoints.ts'
import type { AdmissionRule, SingleSignOnSettings } from './single-sign-on.ts'
import {
  type createSingleSignOnSetupStore,
  hasOperatorWithPassword,
  singleSignOnSecretsColumn,
  type SlotName,
  type Slots,
  type StoredSlot,
  type StoredTest,
  type TestOutcome,
} from './single-sign-on-setup.store.ts'

/** A test sign-in has to return from the provider within this time. */
const testMs = 10 * 60_000
/** A passed test counts for this time. */
const passedMs = 3600_000
const stateBytes = 32
/** Begins the state of test sign-ins. Those of the library have no dot. */
const testMark = 'test.'
const maximumDetail = 500

export interface SingleSignOnSetupDependencies {
  store: ReturnType<typeof createSingleSignOnSetupStore>
  /** How a person would be admitted, without a change. Throws SingleSignOnError. */
  preview: (identity: Identity, rules: SingleSignOnSettings) => Promise<AdmissionRule>
  /** The settings of the configuration, which win. */
  configured: SingleSignOnSettings | undefined
  publicUrl: string | undefined
  secretBox: SecretBox
  /** Code verifier and nonce of a test are derived from it and the state. */
  secret: string
  fetch: typeof fetch
  clock: Clock
  log: Log
}

export type SingleSignOnSetup = ReturnType<typeof createSingleSignOnSetup>

/** Single sign-on that operators set up and test in the console. Every instance reads the stored settings where it needs them. */
export function createSingleSignOnSetup(dependencies: SingleSignOnSetupDependencies) {
  const { store, configured, publicUrl, clock } = dependencies
  const redirectUrl = publicUrl === undefined ? null : new URL(publicUrl).origin + authPath + callbackPath
  const open = createOpener(dependencies)

  async function view(personId: string | undefined): Promise<SingleSignOnBody> {
    const [slots, test] = await Promise.all([store.loadSlots(), personId && store.loadTest(personId)])
    const { draft, active } = slots
    const inForce = configured ?? (redirectUrl === null ? undefined : active?.settings)
    const tested = test && draft && test.revision === draft.revision ? test : undefined
    return {
      source: configured ? 'configuration' : inForce ? 'console' : null,
      inForce: inForce ? shown(inForce) : null,
      draft: draft ? shown(draft.settings) : null,
      isDraftInForce: draft !== undefined && draft.revision === active?.revision,
      redirectUrl,
      test: tested ? describeTest(tested, clock.now()) : null,
      canSwitchOn: !configured && hasPassed(tested, clock.now()),
      version: versionOf(versioned(slots)),
    }
  }

  const assertChangeable = () => {
    if (configured) throw new AppError('conflict', 'Single sign-on is set in the configuration. Change it there.')
  }

  return {
    view,

    /** Label on the sign-in page; undefined: off. */
    async label(): Promise<string | undefined> {
      if (configured || redirectUrl === null) return configured?.name
      return (await store.loadSlot('active'))?.settings.name
    },

    /** With what people sign in now; the same object for as long as it does not change. */
    async load(): Promise<SingleSignOnSettings | undefined> {
      if (configured || redirectUrl === null) return configured
      return open('active', await store.loadSlot('active'))
    },

    /** Stores the settings, which are not in force yet. Throws `invalid_request` and `conflict`. */
    async save(body: PutSingleSignOn, { actor, ifMatch, personId }: ChangedBy): Promise<SingleSignOnBody> {
      assertChangeable()
      assertIssuer(body.issuer)
      await store.change(
        async (slots) => {
          assertVersion(ifMatch, versioned(slots))
          return savedDraft(dependencies, slots.draft, body)
        },
        { actor, atMs: clock.now() },
      )
      return view(personId)
    },

    ...createSwitch({ ...dependencies, view, assertChangeable }),
    ...createTests({ ...dependencies, redirectUrl, open, view, assertChangeable }),

    removeExpired: () => store.removeExpiredTests(clock.now() - passedMs),
  }
}

export interface ChangedBy {
  actor: Actor
  ifMatch: string | undefined
  personId: string | undefined
}

interface SwitchDependencies extends SingleSignOnSetupDependencies {
  view: (personId: string | undefined) => Promise<SingleSignOnBody>
  assertChangeable: () => void
}

function createSwitch({ store, secretBox, clock, view, assertChangeable }: SwitchDependencies) {
  return {
    /** Puts the tested settings in force. Throws `conflict` without a passed test of this person. */
    async switchOn({ actor, ifMatch, personId }: ChangedBy): Promise<SingleSignOnBody> {
      assertChangeable()
      await store.change(
        async (slots, transaction) => {
          assertVersion(ifMatch, versioned(slots))
          const { draft, active } = slots
          const test = personId === undefined ? undefined : await store.loadTest(personId, transaction)
          if (!draft || test?.revision !== draft.revision || !hasPassed(test, clock.now())) throw untested()
          if (draft.revision === active?.revision) return undefined
          const next = { ...draft, secretSealed: copySecret(secretBox, draft) }
          const values = { before: active ? shown(active.settings) : null, after: shown(draft.settings) }
          return { slot: 'active', next, action: 'single_sign_on.enabled', ...values }
        },
        { actor, atMs: clock.now() },
      )
      return view(personId)
    },

    /** The settings stay stored. Throws `conflict` if no operator has a password. */
    async switchOff({ actor, ifMatch, personId }: ChangedBy): Promise<SingleSignOnBody> {
      assertChangeable()
      await store.change(
        async (slots, transaction) => {
          assertVersion(ifMatch, versioned(slots))
          if (!slots.active) return undefined
          if (actor.personId !== undefined && !(await hasOperatorWithPassword(transaction))) throw lockedOut()
          const values = { before: shown(slots.active.settings), after: null }
          return { slot: 'active', next: null, action: 'single_sign_on.disabled', ...values }
        },
        { actor, atMs: clock.now() },
      )
      return view(personId)
    },
  }
}

interface TestDependencies extends SwitchDependencies {
  redirectUrl: string | null
  open: ReturnType<typeof createOpener>
}

/** Test sign-ins: the real flow with the settings that are not in force yet. They sign nobody in and change no account. */
function createTests(dependencies: TestDependencies) {
  const { store, secret, redirectUrl, open, view, assertChangeable, clock } = dependencies
  const derive = (what: string, state: string) =>
    createHmac('sha256', secret).update(`single sign-on test ${what} ${state}`).digest('base64url')

  async function evaluate(state: string, revision: string, query: URLSearchParams): Promise<TestOutcome> {
    const draft = await store.loadSlot('draft')
    const settings = open('draft', draft)
    if (!settings || draft?.revision !== revision) return failure('settings_changed', 'the settings were changed')
    const refused = query.get('error')
    if (refused !== null) return failure(readCode(refused), query.get('error_description') ?? refused)
    const codes = query.getAll('code')
    if (codes.length !== 1) return failure('invalid_code', `the callback has ${codes.length} codes`)
    const issuer = query.get('iss')
    if (issuer !== null && issuer !== settings.issuer)
      return failure('issuer_mismatch', `the callback states the issuer ${issuer}`)
    return tryOut(dependencies, settings, {
      code: codes[0]!,
      codeVerifier: derive('verifier', state),
      nonce: derive('nonce', state),
      redirectUri: redirectUrl!,
    })
  }

  return {
    /** Begins a test of the stored settings in the session of a person. A provider that cannot be used is a failed test. */
    async startTest(person: Person | undefined, actor: Actor): Promise<StartedSingleSignOnTest> {
      assertChangeable()
      if (!person) throw new AppError('conflict', 'A test sign-in needs a browser: sign in to the console.')
      if (redirectUrl === null) throw new AppError('conflict', 'Set `server.publicUrl` first.')
      const draft = await store.loadSlot('draft')
      const settings = open('draft', draft)
      if (!draft || !settings) throw new AppError('conflict', 'Save the settings with the client secret first.')
      const state = testMark + randomBytes(stateBytes).toString('base64url')
      const [stateHash, nowMs] = [lookupHash(state), clock.now()]
      const { id: personId, sessionId } = person
      const times = { startedAt: new Date(nowMs), expiresAt: new Date(nowMs + testMs) }
      await store.startTest({ personId, sessionId, stateHash, revision: draft.revision, ...times })
      try {
        const url = await createIdentityProvider(settings, dependencies).authorizationUrl({
          state,
          nonce: derive('nonce', state),
          codeChallenge: hash('sha256', derive('verifier', state), 'base64url'),
          redirectUri: redirectUrl,
        })
        return { ...(await view(personId)), url: url.href }
      } catch (error) {
        const outcome = failureOf(error)
        await store.finishTest(stateHash, outcome, settings.issuer, { actor, atMs: clock.now() })
        return { ...(await view(personId)), url: null }
      }
    },

    /** Whether the query of a callback belongs to a test sign-in. */
    isTest: (query: URLSearchParams) => query.get('state')?.startsWith(testMark) === true,

    /** Ends a test with the callback of the provider. Without a test of this session, or the second time, it has no effect. */
    async finishTest(query: URLSearchParams, person: Person, actor: Actor): Promise<void> {
      const state = query.get('state') ?? ''
      const stateHash = lookupHash(state)
      const revision = await store.takeTest(
        { stateHash, personId: person.id, sessionId: person.sessionId },
        clock.now(),
      )
      if (revision === undefined) return
      const outcome = await evaluate(state, revision, query)
      const issuer = (await store.loadSlot('draft'))?.settings.issuer ?? ''
      await store.finishTest(stateHash, outcome, issuer, { actor, atMs: clock.now() })
    },
  }
}

async function tryOut(
  { preview, ...dependencies }: TestDependencies,
  settings: SingleSignOnSettings,
  exchange: Parameters<IdentityProvider['identify']>[0],
): Promise<TestOutcome> {
  let person: TestOutcome['person'] = null
  try {
    const identity = await createIdentityProvider(settings, dependencies).identify(exchange)
    const { issuer, email, isVerified: emailVerified, name, groups } = identity
    person = { issuer, email, emailVerified, name, groups: groups.length }
    return { code: null, detail: null, rule: await preview(identity, settings), person }
  } catch (error) {
    return { ...failureOf(error), person }
  }
}

/** The settings of a slot with the secret; undefined without one that can be read. Keeps the last one of each slot. */
function createOpener({ secretBox, log }: SingleSignOnSetupDependencies) {
  const known = new Map<SlotName, { revision: string; settings: SingleSignOnSettings | undefined }>()

  function read(name: SlotName, { settings, secretSealed }: StoredSlot): SingleSignOnSettings | undefined {
    try {
      const clientSecret = secretBox.open(secretSealed, singleSignOnSecretsColumn.contextOf(name))
      return { ...settings, ...fixedSettings, clientSecret }
    } catch (error) {
      log.error({ error: describeError(error) }, 'the secret of single sign-on cannot be read')
      return undefined
    }
  }

  return (name: SlotName, slot: StoredSlot | undefined): SingleSignOnSettings | undefined => {
    if (!slot) return undefined
    const last = known.get(name)
    if (last?.revision === slot.revision) return last.settings
    const settings = read(name, slot)
    known.set(name, { revision: slot.revision, settings })
    return settings
  }
}

/** What only the configuration sets: roles of groups. */
const fixedSettings = { scopes: ['openid', 'email', 'profile'], groupsClaim: 'groups', roles: [], sessionHours: 12 }

/** As for addresses of providers: operators may name private networks, but no metadata service. */
function assertIssuer(issuer: string) {
  if (notMetadata.hostRefusal(new URL(issuer).hostname))
    throw invalidField('issuer', 'issuer must not be a link-local address or a metadata service of a cloud.')
}

function savedDraft(
  { secretBox, clock }: SingleSignOnSetupDependencies,
  before: StoredSlot | undefined,
  { clientSecret, ...settings }: PutSingleSignOn,
) {
  if (clientSecret === undefined && before?.settings.issuer !== settings.issuer)
    throw invalidField('clientSecret', 'clientSecret: is required, because the issuer is another.')
  const changed = changedFields(before ? { ...before.settings } : {}, settings)
  if (!changed && clientSecret === undefined) return undefined
  const context = singleSignOnSecretsColumn.contextOf('draft')
  const secretSealed = clientSecret === undefined ? before!.secretSealed : secretBox.seal(clientSecret, context)
  const replaced = before && clientSecret !== undefined ? { secretChanged: true } : {}
  return {
    slot: 'draft' as const,
    next: { settings, secretSealed, revision: createUuid(clock.now()) },
    action: 'single_sign_on.updated' as const,
    before: before ? (changed?.before ?? {}) : null,
    after: { ...(before ? changed?.after : settings), ...replaced },
  }
}

function copySecret(secretBox: SecretBox, { secretSealed }: StoredSlot): string {
  const { contextOf } = singleSignOnSecretsColumn
  return secretBox.seal(secretBox.open(secretSealed, contextOf('draft')), contextOf('active'))
}

const versioned = ({ draft, active }: Slots) => ({ draft: draft?.revision ?? null, active: active?.revision ?? null })

function shown(settings: Readonly<StoredSingleSignOn> | SingleSignOnSettings) {
  const { name, issuer, clientId, verifiedClaim, createAccounts, allowedEmailDomains } = settings
  return { name, issuer, clientId, verifiedClaim, createAccounts, allowedEmailDomains: [...allowedEmailDomains] }
}

function hasPassed(test: StoredTest | undefined, nowMs: number): boolean {
  return test?.outcome?.code === null && test.startedAt.getTime() > nowMs - passedMs
}

/** A test that nothing has ended in its time, such as after a kill, has failed. */
function describeTest({ startedAt, expiresAt, outcome }: StoredTest, nowMs: number): SingleSignOnTest {
  const none = { code: null, detail: null, rule: null, person: null }
  const at = { startedAt: startedAt.toISOString() }
  if (outcome) return { ...at, state: outcome.code === null ? 'passed' : 'failed', ...outcome }
  if (expiresAt.getTime() > nowMs) return { ...at, state: 'waiting', ...none }
  return { ...at, state: 'failed', ...none, code: 'test_not_finished' }
}

const failure = (code: string, detail: string): TestOutcome => ({
  code,
  detail: toStorable(detail).slice(0, maximumDetail),
  rule: null,
  person: null,
})

function failureOf(error: unknown): TestOutcome {
  if (error instanceof SingleSignOnError) return failure(error.code, error.message)
  throw error
}

/** Codes of providers are free texts. */
const readCode = (code: string) => (/^[a-z_]{1,60}$/.test(code) ? code : 'access_denied')

function untested(): AppError {
  return new AppError('conflict', 'Test these settings first: your test sign-in must have passed within the last hour.')
}

function lockedOut(): AppError {
  return new AppError('conflict', 'No operator has a password. Make a link for a new password for one of them first.')
}
