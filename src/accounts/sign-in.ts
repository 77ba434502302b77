import { AsyncLocalStorage } from 'node:async_hooks'
import type { AdminAction } from '../contract/admin-log.ts'
import { AppError, lookupHash } from '../kernel/index.ts'
import type { AuthRows, RecordedWrite } from './auth-rows.store.ts'
import type { AttemptRule, PeopleStore } from './people.store.ts'
import type { Person } from './person.ts'
import type { SignInLibrary, SignInLibraryDependencies } from './sign-in-library.ts'
import { type SignInRequest, signInPagePath } from './sign-in-request.ts'
import { createSlots } from './slots.ts'

/** Wrong passwords for one email. Enough for typos; 40 guesses per hour do not find a password of 12 characters. */
const perEmail: AttemptRule = { maximum: 10, windowMs: 15 * 60_000 }
/** Requests of one network address. A proxy in front of the server counts as one address. */
const perAddress: AttemptRule = { maximum: 1000, windowMs: 5 * 60_000 }
/** A hash takes some 50 ms of one of the four threads that files and name lookups need too. */
const passwordChecks = { concurrent: 2, waiting: 100 }

const twoFactorSwitch = { table: 'people', column: 'two_factor_enabled' }

/** A change of the library, and the column whose write makes it. */
interface LibraryChange {
  action: AdminAction
  table: string
  column: string
  after?: Record<string, unknown> | null
}

/** The endpoints of the library that clients may call. `password`: the body has a password to check. */
const endpoints: Record<string, { password: boolean; change?: LibraryChange }> = {
  'POST /sign-in/email': { password: true },
  'POST /sign-in/social': { password: false },
  'GET /callback/sso': { password: false },
  'POST /sign-out': { password: false },
  'GET /get-session': { password: false },
  'POST /change-password': {
    password: true,
    change: { action: 'person.password_changed', table: 'people_accounts', column: 'password' },
  },
  'POST /two-factor/enable': {
    password: true,
    change: { action: 'person.two_factor_prepared', table: 'people_two_factors', column: 'secret' },
  },
  // Writes the column only when it activates the prepared factor of a signed-in person.
  'POST /two-factor/verify-totp': {
    password: false,
    change: { action: 'person.two_factor_enabled', ...twoFactorSwitch, after: { twoFactorEnabled: true } },
  },
  'POST /two-factor/verify-backup-code': { password: false },
  'POST /two-factor/generate-backup-codes': {
    password: true,
    change: { action: 'person.backup_codes_replaced', table: 'people_two_factors', column: 'backup_codes' },
  },
  'POST /two-factor/disable': {
    password: true,
    change: { action: 'person.two_factor_disabled', ...twoFactorSwitch, after: { twoFactorEnabled: false } },
  },
}

export interface SignInDependencies extends Omit<SignInLibraryDependencies, 'rows' | 'requestId'> {
  /** The rows of the library. `findRecorded`: the write of the running request that makes its change. */
  openRows: (findRecorded: () => RecordedWrite | undefined) => AuthRows
  store: PeopleStore
  /** False: only single sign-on. */
  passwordSignIn: boolean
}

/** E-mail and password, second factor and sessions, by better-auth. */
export function createSignIn(dependencies: SignInDependencies) {
  const { store, clock, passwordSignIn, singleSignOn } = dependencies
  /** The library passes no request to the provider's functions and to the storage. */
  const running = new AsyncLocalStorage<{ requestId: string; recorded: RecordedWrite | undefined }>()
  const rows = dependencies.openRows(() => running.getStore()?.recorded)
  const requestId = () => running.getStore()?.requestId ?? null
  let library: Promise<SignInLibrary> | undefined
  // Loaded by the first request that needs it: its 300 modules take 6 MB, and 0.15 s of processor time of a start.
  const useLibrary = () => (library ??= openLibrary({ ...dependencies, rows, requestId }))
  const passwords = createSlots(passwordChecks)

  /** The person of the session cookie, in one query: every request of the console needs it. */
  async function findPerson(headers: Headers): Promise<Person | undefined> {
    const cookies = headers.get('cookie')
    const token = cookies === null ? undefined : await (await useLibrary()).readSessionToken(cookies)
    // The library writes the end of a session with the time of the system.
    return token === undefined ? undefined : store.loadSessionPerson(lookupHash(token), Date.now())
  }

  async function consume(subject: string, rule: AttemptRule): Promise<string> {
    const key = lookupHash(subject)
    const { allowed, retryAfterMs } = await store.consumeAttempt(key, rule, clock.now())
    if (allowed) return key
    throw new AppError('rate_limit_exceeded', 'There were too many attempts. Try again later.', {
      retryAfterSeconds: retryAfterMs / 1000,
    })
  }

  /** The email whose password the request states; attempts are counted for unknown emails too. */
  async function emailOf({ path, headers, body }: SignInRequest): Promise<string> {
    if (path.startsWith('/sign-in/')) return String((body as { email?: unknown } | null)?.email).toLowerCase()
    return (await findPerson(headers))?.email ?? ''
  }

  return {
    findPerson,

    /** Answers a request below `/api/auth`. Throws `not_found` and `rate_limit_exceeded`. */
    async handle(request: SignInRequest): Promise<Response> {
      const path = request.path.split('?', 1)[0]!
      const endpoint = endpoints[`${request.method} ${path}`]
      const isSingleSignOn = path === '/sign-in/social' || path === callbackPath
      if (!endpoint || (isSingleSignOn && !singleSignOn))
        throw new AppError('not_found', 'There is no such sign-in endpoint. docs/accounts.md lists all.')
      if (endpoint.password && !passwordSignIn) throw noPasswords()
      if (request.method !== 'GET' || path === callbackPath)
        await consume(`address ${request.clientAddress}`, perAddress)
      const counted = endpoint.password ? await consume(`email ${await emailOf(request)}`, perEmail) : undefined
      // Without a session the library makes no change; it then checks the second factor of a sign-in.
      const person = endpoint.change && (await findPerson(request.headers))
      const recorded = person && recordedWrite(endpoint.change!, person, request.requestId, clock.now())
      const context = { requestId: request.requestId, recorded }
      const { respond: answer } = await useLibrary()
      const respond = () => running.run(context, () => answer(request))
      const response = await (endpoint.password ? passwords.run(respond) : respond())
      if (path === callbackPath) return toPage(response)
      if (response.status >= 500 && response.status !== 503)
        throw new AppError('internal_error', 'Something went wrong on our side.')
      if (counted !== undefined && response.ok) await store.forgetAttempts(counted)
      return response
    },

    /** Ends the lock of an email after wrong passwords. */
    unlock: (email: string) => store.forgetAttempts(lookupHash(`email ${email}`)),

    /** Throws `conflict` if people cannot sign in with a password. */
    async hashPassword(password: string): Promise<string> {
      if (!passwordSignIn) throw noPasswords()
      const { hashPassword } = await useLibrary()
      return passwords.run(() => hashPassword(password))
    },
  }
}

/** Loads the parts of the library one after the other: all at once would block the event loop for 150 ms. */
async function openLibrary(dependencies: SignInLibraryDependencies): Promise<SignInLibrary> {
  await import('jose')
  await import('better-auth/cookies')
  await import('better-auth/api')
  const { createSignInLibrary } = await import('./sign-in-library.ts')
  return createSignInLibrary(dependencies)
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

const callbackPath = '/callback/sso'

function noPasswords(): AppError {
  return new AppError('conflict', 'Sign-in with a password is turned off. Use single sign-on.')
}

/** The browser of a person is waiting for a page, so an error becomes a redirect to the page that explains it. */
async function toPage(response: Response): Promise<Response> {
  if (response.status >= 300 && response.status < 400) return response
  const { code } = ((await response.json().catch(() => null)) ?? {}) as { code?: unknown }
  const error = typeof code === 'string' && /^[a-z_]{1,60}$/.test(code) ? code : 'internal_error'
  return new Response(null, { status: 302, headers: { location: `${signInPagePath}?error=${error}` } })
}
