import { AsyncLocalStorage } from 'node:async_hooks'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { parseCookies } from 'better-auth/cookies'
import { betterAuth } from 'better-auth/minimal'
import { twoFactor } from 'better-auth/plugins/two-factor'
import type { AdminAction } from '../contract/admin-log.ts'
import { passwordLength } from '../contract/people.ts'
import { AppError, type Clock, createUuid, describeError, type Log, lookupHash } from '../kernel/index.ts'
import type { AuthRows, RecordedWrite } from './auth-rows.store.ts'
import { createAuthAdapter } from './auth-adapter.ts'
import type { AttemptRule, PeopleStore } from './people.store.ts'
import type { IdentityProvider } from './identity-provider.ts'
import type { Person } from './person.ts'
import {
  type AdmissionDependencies,
  createAdmission,
  singleSignOnPlugin,
  type SingleSignOnRules,
} from './single-sign-on.ts'
import { singleSignOnId } from './single-sign-on.store.ts'
import { createSlots } from './slots.ts'

export const authPath = '/api/auth'
/** Set by the routes from the connection, never taken from a client. */
export const clientAddressHeader = 'x-portico-client-address'

/** A session ends after this time without a request to `get-session`. */
const sessionSeconds = 7 * 24 * 3600
const refreshAfterSeconds = 24 * 3600
/** Wrong passwords for one email. Enough for typos; 40 guesses per hour do not find a password of 12 characters. */
const perEmail: AttemptRule = { maximum: 10, windowMs: 15 * 60_000 }
/** Requests of one network address. A proxy in front of the server counts as one address. */
const perAddress: AttemptRule = { maximum: 1000, windowMs: 5 * 60_000 }
/** A hash takes some 50 ms of one of the four threads that files and name lookups need too. */
const passwordChecks = { concurrent: 2, waiting: 100 }

/** Pages of the console. The library redirects browsers to them. */
const consolePath = '/console'
export const signInPagePath = '/console/sign-in'
/** A page of the console to which single sign-on returns: no other site, no query. */
const returnPath = /^\/console(?:\/[\w.~%-]{1,200}){0,8}$/

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

export interface SignInDependencies {
  /** The rows of the library. `findRecorded`: the write of the running request that makes its change. */
  openRows: (findRecorded: () => RecordedWrite | undefined) => AuthRows
  store: PeopleStore
  /** Signs cookies and encrypts the secrets of second factors. */
  secret: string
  publicUrl: string | undefined
  clock: Clock
  log: Log
  /** False: only single sign-on. */
  passwordSignIn: boolean
  singleSignOn: SingleSignOn | undefined
}

export interface SingleSignOn {
  provider: IdentityProvider
  rules: SingleSignOnRules
  store: AdmissionDependencies['store']
  sessionHours: number
}

export interface SignInRequest {
  requestId: string
  method: string
  /** Below `/api/auth`, with the query. */
  path: string
  headers: Headers
  body: unknown
  /** Scheme and host under which the client reached the server; of a change, its checked `Origin`. */
  origin: string
  clientAddress: string
}

/** E-mail and password, second factor and sessions, by better-auth. */
export function createSignIn(dependencies: SignInDependencies) {
  const { store, clock, passwordSignIn, singleSignOn } = dependencies
  /** The library passes no request to the provider's functions and to the storage. */
  const running = new AsyncLocalStorage<{ requestId: string; recorded: RecordedWrite | undefined }>()
  const rows = dependencies.openRows(() => running.getStore()?.recorded)
  const auth = createAuth(dependencies, rows, () => running.getStore()?.requestId ?? null)
  const passwords = createSlots(passwordChecks)

  /** The person of the session cookie, in one query: every request of the console needs it. */
  async function findPerson(headers: Headers): Promise<Person | undefined> {
    const { authCookies } = await auth.$context
    const token = readSignedCookie(headers.get('cookie') ?? '', authCookies.sessionToken.name, dependencies.secret)
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
      const respond = () => running.run(context, () => auth.handler(toRequest(request)))
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
      const { password: hashing } = await auth.$context
      return passwords.run(() => hashing.hash(password))
    },
  }
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

/** The value of a cookie that better-auth has signed; undefined without a valid signature. */
function readSignedCookie(header: string, name: string, secret: string): string | undefined {
  const signed = parseCookies(header).get(name) ?? ''
  const end = signed.lastIndexOf('.')
  if (end < 1) return undefined
  const value = signed.slice(0, end)
  const expected = createHmac('sha256', secret).update(value).digest()
  const given = Buffer.from(signed.slice(end + 1), 'base64')
  return given.length === expected.length && timingSafeEqual(given, expected) ? value : undefined
}

function createAuth(dependencies: SignInDependencies, rows: AuthRows, requestId: () => string | null) {
  const { secret, publicUrl, singleSignOn, clock, log } = dependencies
  const admit = singleSignOn && createAdmission({ ...singleSignOn, clock, requestId })
  const finalMs = (singleSignOn?.sessionHours ?? 0) * 3600_000
  return betterAuth({
    appName: 'Portico',
    ...(publicUrl === undefined ? {} : { baseURL: new URL(publicUrl).origin }),
    basePath: authPath,
    secret,
    database: createAuthAdapter(rows),
    emailAndPassword: {
      enabled: true,
      // Accounts come from set-up and invitations.
      disableSignUp: true,
      minPasswordLength: passwordLength.minimum,
      maxPasswordLength: passwordLength.maximum,
    },
    session: {
      expiresIn: sessionSeconds,
      updateAge: refreshAfterSeconds,
      additionalFields: { finalAt: { type: 'date', required: false, input: false, returned: false } },
    },
    // A session of single sign-on ends, so that the groups of the person are read again.
    databaseHooks: {
      session: {
        create: {
          before: async (session, context) => {
            if (context?.path !== '/callback/:id') return
            const finalAt = new Date(Date.now() + finalMs)
            return { data: { ...session, expiresAt: finalAt, finalAt } }
          },
        },
      },
    },
    account: { updateAccountOnSignIn: false, accountLinking: { enabled: false } },
    onAPIError: { errorURL: signInPagePath },
    verification: { storeIdentifier: 'hashed' },
    plugins: [
      twoFactor({ issuer: 'Portico' }),
      ...(singleSignOn && admit ? [singleSignOnPlugin(singleSignOn.provider, admit)] : []),
    ],
    // Counted by `handle` in the database, for emails as well as addresses.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    // The routes have checked that the request comes from this origin.
    trustedOrigins: (request) => (request ? [new URL(request.url).origin] : []),
    advanced: {
      cookiePrefix: 'portico',
      useSecureCookies: publicUrl?.startsWith('https:') ?? false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: '/' },
      database: { generateId: () => createUuid() },
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
    },
    logger: {
      // Its warnings state refused sign-ins, which the request log has already.
      level: 'error',
      log: (_level, _message, ...details) =>
        log.error({ error: details.map(describeError).join('; ') }, 'the sign-in library reports an error'),
    },
  })
}

/** Without headers of the client that the library does not need. */
function toRequest({ method, path, headers, body, origin, clientAddress }: SignInRequest): Request {
  const passed = new Headers({ [clientAddressHeader]: clientAddress })
  for (const name of ['cookie', 'user-agent', 'accept', 'sec-fetch-site', 'sec-fetch-mode']) {
    const value = headers.get(name)
    if (value !== null) passed.set(name, value)
  }
  if (method === 'GET') return new Request(new URL(authPath + path, origin), { headers: passed })
  passed.set('content-type', 'application/json')
  passed.set('origin', origin)
  const plainPath = path.split('?', 1)[0]!
  const url = new URL(authPath + plainPath, origin)
  return new Request(url, { method, headers: passed, body: JSON.stringify(withRules(plainPath, body)) })
}

/** What the library receives instead of the body of a client. */
function withRules(path: string, body: unknown): unknown {
  const given = (typeof body === 'object' ? body : null) as Record<string, unknown> | null
  // A new password ends all other sessions.
  if (path === '/change-password') return { ...given, revokeOtherSessions: true }
  if (path !== '/sign-in/social') return body ?? {}
  const wanted = String(given?.['returnTo'] ?? consolePath)
  return {
    provider: singleSignOnId,
    callbackURL: returnPath.test(wanted) ? wanted : consolePath,
    errorCallbackURL: signInPagePath,
    disableRedirect: true,
  }
}
