import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError, describeError, type Log, lookupHash, invalidField } from '../../platform/kernel/index.ts'
import { actorOf } from '../operators/index.ts'
import type { AttemptStore } from './attempts.store.ts'
import type { AuthRows, RecordedWrite } from './auth-rows.store.ts'
import { createPasswordRule, type PasswordOwner } from './common-passwords.ts'
import { createKnownDevices } from './known-devices.ts'
import type { PeopleStore } from './people.store.ts'
import type { Person } from './person.ts'
import { createSecretGuard } from './secret-guard.ts'
import { callbackPath, type LibraryChange, type SignInEndpoint, signInEndpoints } from './sign-in-endpoints.ts'
import type { SignInLibrary, SignInLibraryDependencies, SingleSignOn } from './sign-in-library.ts'
import { createSignInLimits } from './sign-in-limits.ts'
import { fieldOf, signInPagePath, type SignInRequest, singleSignOnPagePath } from './sign-in-request.ts'
import type { SingleSignOnSettings } from './single-sign-on.ts'
import type { SingleSignOnSetup } from './single-sign-on-setup.ts'

/** A hash takes some 50 ms of one of the four threads that files and name lookups need too. */
const passwordChecks = { concurrent: 2, waiting: 100 }

export interface SignInDependencies extends Omit<SignInLibraryDependencies, 'rows' | 'requestId' | 'singleSignOn'> {
  /** The rows of the library. `findRecorded`: the write of the running request that makes its change. */
  openRows: (findRecorded: () => RecordedWrite | undefined) => AuthRows
  store: PeopleStore
  attempts: AttemptStore
  /** False: only single sign-on. */
  passwordSignIn: boolean
  /** `setup` has the settings in force, and the test sign-ins. */
  singleSignOn: { setup: Pick<SingleSignOnSetup, 'load' | 'isTest' | 'finishTest'>; store: SingleSignOn['store'] }
}

/** E-mail and password, second factor and sessions, by better-auth. */
export function createSignIn(dependencies: SignInDependencies) {
  const { store, clock, passwordSignIn, singleSignOn, log } = dependencies
  const limits = createSignInLimits({ store: dependencies.attempts, clock })
  /** The library passes no request to the provider's functions and to the storage. */
  const running = new AsyncLocalStorage<{ requestId: string; recorded: RecordedWrite | undefined }>()
  const rows = dependencies.openRows(() => running.getStore()?.recorded)
  const requestId = () => running.getStore()?.requestId ?? null
  const { useLibrary, useProvider } = createLibraries({ ...dependencies, rows, requestId }, singleSignOn)
  const passwords = createSlots(passwordChecks)
  const { assertUncommon } = createPasswordRule()

  const guard = createSecretGuard({
    limits,
    devices: createKnownDevices(dependencies),
    loadPasswordAccount: store.loadPasswordAccount,
    endChallenges: store.endChallenges,
    findPerson,
    findChallenged: async (cookies) => (await useLibrary()).findChallenged(cookies),
  })

  /** The person of the session cookie, in one query: every request of the console needs it. */
  async function findPerson(headers: Headers): Promise<Person | undefined> {
    const cookies = headers.get('cookie')
    const token = cookies === null ? undefined : await (await useLibrary()).readSessionToken(cookies)
    // The library writes the end of a session with the time of the system.
    return token === undefined ? undefined : store.loadSessionPerson(lookupHash(token), Date.now(), passwordSignIn)
  }

  async function run(request: SignInRequest, endpoint: SignInEndpoint, person?: Person): Promise<Response> {
    // Without a session the library makes no change; it then checks the second factor of a sign-in.
    const { change, fields, secret } = endpoint
    const recorded = person && change && recordedWrite(change, person, request.requestId, clock.now())
    const { respond } = await (isSingleSignOn(request) ? useProvider() : useLibrary())
    const body = Object.fromEntries(fields.map((name) => [name, fieldOf(request, name)]))
    const task = () => running.run({ requestId: request.requestId, recorded }, () => respond({ ...request, body }))
    return secret === 'password' ? passwords.run(task) : task()
  }

  async function answer(...given: Parameters<typeof run>): Promise<Response> {
    const response = await run(...given)
    await assertAnswered(response)
    return response
  }

  return {
    findPerson,

    /** Answers a request below `/api/auth`. Throws `not_found`, `not_signed_in` and `rate_limit_exceeded`. */
    async handle(request: SignInRequest): Promise<Response> {
      const path = pathOf(request)
      const endpoint = signInEndpoints[`${request.method} ${path}`]
      if (!endpoint) throw noEndpoint()
      if (endpoint.secret !== undefined && !passwordSignIn) throw noPasswords()
      assertTexts(request, endpoint)
      if (path === '/get-session' && !passwordSignIn && !(await findPerson(request.headers))) return Response.json(null)
      if (path === '/get-session') return answer(request, endpoint)
      if (path === '/change-password')
        await assertUncommon(String(fieldOf(request, 'newPassword')), 'newPassword', await findPerson(request.headers))
      return guard(request, endpoint, async (person) => {
        if (path !== callbackPath) return answer(request, endpoint, person)
        const query = new URLSearchParams(request.path.slice(path.length))
        if (singleSignOn.setup.isTest(query)) return endTest(dependencies, request, { query, person })
        await useProvider()
        return toPage(run(request, endpoint, person), log)
      })
    },

    countLink: limits.countLink,
    unlock: limits.unlock,

    /** Throws `conflict` if people cannot sign in with a password, and `invalid_request` for a common one. */
    async hashPassword(password: string, person: PasswordOwner): Promise<string> {
      if (!passwordSignIn) throw noPasswords()
      await assertUncommon(password, 'password', person)
      const { hashPassword } = await useLibrary()
      return passwords.run(() => hashPassword(password))
    },
  }
}

async function assertAnswered(response: Response): Promise<void> {
  if (response.status < 500 || response.status === 503) return
  const internal = `the sign-in library answers ${response.status}: ${await response.text()}`
  throw new AppError('internal_error', 'Something went wrong on our side.', { internal })
}

/** Ends a test sign-in of an operator, and leads back to the page that shows the result. */
async function endTest(
  { singleSignOn: { setup }, log }: Pick<SignInDependencies, 'singleSignOn' | 'log'>,
  { requestId }: SignInRequest,
  { query, person }: { query: URLSearchParams; person: Person | undefined },
): Promise<Response> {
  if (person?.isOperator)
    await setup.finishTest(query, person, actorOf({ requestId, person })).catch((error: unknown) => {
      log.error({ error: describeError(error) }, 'a test of single sign-on failed')
    })
  return new Response(null, { status: 302, headers: { location: singleSignOnPagePath } })
}

const pathOf = ({ path }: SignInRequest) => path.split('?', 1)[0]!
const isSingleSignOn = (request: SignInRequest) => ['/sign-in/social', callbackPath].includes(pathOf(request))

/** The library, with the single sign-on provider of the settings in force where a request needs it. */
function createLibraries(
  dependencies: Omit<SignInLibraryDependencies, 'singleSignOn'>,
  { setup, store }: SignInDependencies['singleSignOn'],
) {
  let plain: Promise<SignInLibrary> | undefined
  let provided: { rules: SingleSignOnSettings; library: Promise<SignInLibrary> } | undefined
  const open = (singleSignOn: SingleSignOn | undefined) => openLibrary({ ...dependencies, singleSignOn })
  return {
    // Loaded by the first request that needs it: its 300 modules take 6 MB, and 0.15 s of processor time of a start.
    useLibrary: () => provided?.library ?? (plain ??= open(undefined)),

    /** Throws `not_found` if single sign-on is off. */
    async useProvider(): Promise<SignInLibrary> {
      const rules = await setup.load()
      if (!rules) throw noEndpoint()
      if (provided?.rules !== rules) provided = { rules, library: open({ rules, store }) }
      return provided.library
    },
  }
}

function noEndpoint(): AppError {
  return new AppError('not_found', 'There is no such sign-in endpoint. docs/operate/sign-in.md lists all.')
}

/** Loads the parts of the library one after the other: all at once would block the event loop for 150 ms. */
async function openLibrary(dependencies: SignInLibraryDependencies): Promise<SignInLibrary> {
  await import('jose')
  await import('better-auth/cookies')
  await import('better-auth/api')
  const { createSignInLibrary } = await import('./sign-in-library.ts')
  return createSignInLibrary(dependencies)
}

/** Every field is a text. The library reports those that are absent. */
function assertTexts(request: SignInRequest, { fields }: SignInEndpoint) {
  const wrong = fields.find((name) => !['string', 'undefined'].includes(typeof fieldOf(request, name)))
  if (wrong !== undefined) throw invalidField(wrong, `\`${wrong}\` must be a string.`)
}

function recordedWrite(
  { action, table, column, after = null }: LibraryChange,
  { id: personId, email: name, sessionId }: Person,
  requestId: string,
  atMs: number,
): RecordedWrite {
  const subject = { subjectType: 'person', subjectId: personId, organisationId: null }
  const actor = { name, requestId, personId, sessionId }
  return { table, column, entry: { actor, atMs, action, ...subject, before: null, after }, isRecorded: false }
}

function noPasswords(): AppError {
  return new AppError('conflict', 'Sign-in with a password is turned off. Use single sign-on.')
}

/** The browser of a person is waiting for a page, so an error becomes a redirect to the page that explains it. */
async function toPage(answer: Promise<Response>, log: Log): Promise<Response> {
  const response = await answer.catch((error: unknown) => {
    log.error({ error: describeError(error) }, 'a sign-in with single sign-on failed')
    return Response.json(null)
  })
  if (response.status >= 300 && response.status < 400) return response
  const { code } = ((await response.json().catch(() => null)) ?? {}) as { code?: unknown }
  // The library refuses a query that is not that of a provider with a code in capitals.
  const unnamed = response.status >= 400 && response.status < 500 ? 'invalid_code' : 'internal_error'
  const error = typeof code === 'string' && /^[a-z_]{1,60}$/.test(code) ? code : unnamed
  return new Response(null, { status: 302, headers: { location: `${signInPagePath}?error=${error}` } })
}

/** Runs at most `concurrent` tasks at a time; at most `waiting` wait, further ones are `overloaded`. */
function createSlots({ concurrent, waiting }: { concurrent: number; waiting: number }) {
  let running = 0
  const queue: (() => void)[] = []

  return {
    async run<T>(task: () => Promise<T>): Promise<T> {
      if (running >= concurrent) {
        if (queue.length >= waiting)
          throw new AppError('overloaded', 'Too many people sign in at the moment. Try again shortly.')
        // The task that ends passes its slot on.
        await new Promise<void>((resolve) => queue.push(resolve))
      } else running++
      try {
        return await task()
      } finally {
        const next = queue.shift()
        if (next) next()
        else running--
      }
    },
  }
}
