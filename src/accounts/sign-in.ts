import { createHmac, timingSafeEqual } from 'node:crypto'
import { parseCookies } from 'better-auth/cookies'
import { betterAuth } from 'better-auth/minimal'
import { twoFactor } from 'better-auth/plugins/two-factor'
import type { AdminAction } from '../contract/admin-log.ts'
import { passwordLength } from '../contract/people.ts'
import { AppError, type Clock, createUuid, describeError, type Log, lookupHash } from '../kernel/index.ts'
import type { AuthRows } from './auth-rows.store.ts'
import { createAuthAdapter } from './auth-adapter.ts'
import type { AttemptRule, PeopleStore } from './people.store.ts'
import type { Person } from './person.ts'
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

/** The endpoints of the library that clients may call. `password`: the body has a password to check. */
const endpoints: Record<string, { password: boolean; action?: AdminAction }> = {
  'POST /sign-in/email': { password: true },
  'POST /sign-out': { password: false },
  'GET /get-session': { password: false },
  'POST /change-password': { password: true, action: 'person.password_changed' },
  'POST /two-factor/enable': { password: true, action: 'person.two_factor_prepared' },
  'POST /two-factor/verify-totp': { password: false },
  'POST /two-factor/verify-backup-code': { password: false },
  'POST /two-factor/generate-backup-codes': { password: true, action: 'person.backup_codes_replaced' },
  'POST /two-factor/disable': { password: true, action: 'person.two_factor_disabled' },
}

export interface SignInDependencies {
  rows: AuthRows
  store: PeopleStore
  /** Signs cookies and encrypts the secrets of second factors. */
  secret: string
  publicUrl: string | undefined
  clock: Clock
  log: Log
}

export interface SignInRequest {
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
  const { store, clock } = dependencies
  const auth = createAuth(dependencies)
  const passwords = createSlots(passwordChecks)

  /** The person of the session cookie, in one query: every request of the console needs it. */
  async function findPerson(headers: Headers): Promise<Person | undefined> {
    const { authCookies } = await auth.$context
    const token = readSignedCookie(headers.get('cookie') ?? '', authCookies.sessionToken.name, dependencies.secret)
    return token === undefined ? undefined : store.loadSessionPerson(lookupHash(token), clock.now())
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
    async handle(request: SignInRequest): Promise<{ response: Response; action: AdminAction | undefined }> {
      const endpoint = endpoints[`${request.method} ${request.path.split('?')[0]}`]
      if (!endpoint) throw new AppError('not_found', 'There is no such sign-in endpoint. docs/accounts.md lists all.')
      if (request.method !== 'GET') await consume(`address ${request.clientAddress}`, perAddress)
      const counted = endpoint.password ? await consume(`email ${await emailOf(request)}`, perEmail) : undefined
      const respond = () => auth.handler(toRequest(request))
      const response = await (endpoint.password ? passwords.run(respond) : respond())
      if (response.status >= 500) throw new AppError('internal_error', 'Something went wrong on our side.')
      if (counted !== undefined && response.ok) await store.forgetAttempts(counted)
      return { response, action: response.ok ? endpoint.action : undefined }
    },

    async hashPassword(password: string): Promise<string> {
      const { password: hashing } = await auth.$context
      return passwords.run(() => hashing.hash(password))
    },
  }
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

function createAuth({ rows, secret, publicUrl, log }: SignInDependencies) {
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
    session: { expiresIn: sessionSeconds, updateAge: refreshAfterSeconds },
    verification: { storeIdentifier: 'hashed' },
    plugins: [twoFactor({ issuer: 'Portico' })],
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
  const url = new URL(authPath + path, origin)
  if (method === 'GET') return new Request(url, { headers: passed })
  passed.set('content-type', 'application/json')
  passed.set('origin', origin)
  return new Request(url, { method, headers: passed, body: JSON.stringify(withRules(path, body)) })
}

/** A new password ends all other sessions. */
function withRules(path: string, body: unknown): unknown {
  return path === '/change-password' && typeof body === 'object' ? { ...body, revokeOtherSessions: true } : (body ?? {})
}
