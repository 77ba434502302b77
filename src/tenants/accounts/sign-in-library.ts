import { createHmac, timingSafeEqual } from 'node:crypto'
import { parseCookies } from 'better-auth/cookies'
import { betterAuth } from 'better-auth/minimal'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { passwordLength } from '../../contract/people.ts'
import { type Clock, createUuid, describeError, type Log } from '../../platform/kernel/index.ts'
import { createAuthAdapter } from './auth-adapter.ts'
import type { AuthRows } from './auth-rows.store.ts'
import { createIdentityProvider } from './identity-provider.ts'
import { authPath, consolePath, type SignInRequest, signInPagePath } from './sign-in-request.ts'
import {
  type AdmissionDependencies,
  createAdmission,
  singleSignOnPlugin,
  type SingleSignOnSettings,
} from './single-sign-on.ts'
import { singleSignOnId } from './single-sign-on.store.ts'
import type { AccountSecrets, ReplaceValue } from './two-factor-secrets.ts'

/** better-auth, set up for Portico. Only this module and those that it alone imports load the library. */
export type SignInLibrary = ReturnType<typeof createSignInLibrary>

export interface SignInLibraryDependencies extends AccountSecrets {
  rows: AuthRows
  replaceValue: ReplaceValue
  publicUrl: string | undefined
  singleSignOn: SingleSignOn | undefined
  /** Calls the single sign-on provider. */
  fetch: typeof fetch
  /** The HTTP request that runs, for the admin log. */
  requestId: () => string | null
  /** Tests pass a cheap one; default: the library's scrypt. */
  passwordHashing?: PasswordHashing | undefined
  clock: Clock
  log: Log
}

export interface PasswordHashing {
  hash(password: string): Promise<string>
  verify(given: { hash: string; password: string }): Promise<boolean>
}

export interface SingleSignOn {
  rules: SingleSignOnSettings
  store: AdmissionDependencies['store']
}

/** Set by this module from the connection, never taken from a client. */
const clientAddressHeader = 'x-portico-client-address'
/** The names that the library gives to its cookies, without prefix. */
const challengeCookie = 'two_factor'
const trustedDeviceCookie = /\btrust_device$/
/** A session ends after this time without a request to `get-session`. */
const sessionSeconds = 7 * 24 * 3600
const refreshAfterSeconds = 24 * 3600
/**
 * A page to which single sign-on returns, of the console or a hosted chat for members: no other site, no query. The library refuses further
 * characters.
 */
const returnPath = /^(?:\/console(?:\/[\w-][\w.-]{0,199}){0,8}|\/s\/[a-z0-9-]{1,60})$/

export function createSignInLibrary(dependencies: SignInLibraryDependencies) {
  const auth = createAuth(dependencies)
  return {
    /** Rejects with an error that is not the library's, such as that of the database. */
    respond: async (request: SignInRequest): Promise<Response> => auth.handler(toRequest(request)),

    async hashPassword(password: string): Promise<string> {
      const { password: hashing } = await auth.$context
      return hashing.hash(password)
    },

    /** The token in the session cookie of a `Cookie` header; undefined without one that this server has signed. */
    async readSessionToken(cookies: string): Promise<string | undefined> {
      const { authCookies } = await auth.$context
      return readSignedCookie(cookies, authCookies.sessionToken.name, dependencies.secret)
    },

    /** The id of the person who has given the password and whose second factor is still to be checked; undefined without one. */
    async findChallenged(cookies: string): Promise<string | undefined> {
      const { createAuthCookie, internalAdapter } = await auth.$context
      const challenge = readSignedCookie(cookies, createAuthCookie(challengeCookie).name, dependencies.secret)
      return challenge === undefined ? undefined : (await internalAdapter.findVerificationValue(challenge))?.value
    },
  }
}

function createAuth(dependencies: SignInLibraryDependencies) {
  const { rows, secret, publicUrl, singleSignOn, passwordHashing, log } = dependencies
  const finalMs = (singleSignOn?.rules.sessionHours ?? 0) * 3600_000
  return betterAuth({
    appName: 'Portico',
    ...(publicUrl === undefined ? {} : { baseURL: new URL(publicUrl).origin }),
    basePath: authPath,
    secret,
    database: createAuthAdapter(rows, dependencies, dependencies.replaceValue),
    emailAndPassword: {
      enabled: true,
      // Accounts come from set-up and invitations.
      disableSignUp: true,
      minPasswordLength: passwordLength.minimum,
      maxPasswordLength: passwordLength.maximum,
      ...(passwordHashing ? { password: passwordHashing } : {}),
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
    // Unexpected errors are thrown to the caller. Otherwise the library writes them, and some refusals, to the console.
    onAPIError: { errorURL: signInPagePath, throw: true },
    verification: { storeIdentifier: 'hashed' },
    plugins: [
      // Counted in the database by sign-in-limits.ts, before the code is checked and not for the devices of the person.
      twoFactor({ issuer: 'Portico', accountLockout: { enabled: false } }),
      ...(singleSignOn ? [openSingleSignOn(singleSignOn, dependencies)] : []),
    ],
    // Counted by `handle` in the database, for emails as well as addresses.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    // The routes have checked that the request comes from this origin.
    trustedOrigins: (request) => (request ? [new URL(request.url).origin] : []),
    advanced: {
      // The default is true where the environment looks like that of tests.
      disableOriginCheck: false,
      cookiePrefix: 'portico',
      useSecureCookies: publicUrl?.startsWith('https:') ?? false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: '/' },
      database: { generateId: () => createUuid() },
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
    },
    logger: {
      // Its warnings state refused sign-ins, which the request log has already.
      level: 'error',
      log: (_level, message, ...details) => {
        // Texts and objects can be those of a client.
        const failures = details.filter((detail) => detail instanceof Error)
        const level = failures.every(isOfClient) ? 'warn' : 'error'
        const error = [message, ...failures.map(describeError)].join('; ')
        log[level]({ error }, 'the sign-in library reports an error')
      },
    },
  })
}

/** Anybody can send a callback that belongs to no sign-in. */
const isOfClient = (error: Error) => 'code' in error && /^state_(?!generation)/.test(String(error.code))

function openSingleSignOn({ rules, store }: SingleSignOn, dependencies: SignInLibraryDependencies) {
  const { clock, requestId } = dependencies
  const admit = createAdmission({ rules, store, clock, requestId })
  return singleSignOnPlugin(createIdentityProvider(rules, dependencies), admit)
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

/**
 * One cookie of each name, so that the library reads those by which Portico has counted the attempt. Without devices that would skip the
 * second factor: no password, factor or role would end them.
 */
function uniqueCookies(header: string): string {
  return [...parseCookies(header)]
    .filter(([name]) => !trustedDeviceCookie.test(name))
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('; ')
}

/** Without headers of the client that the library does not need. */
function toRequest({ method, path, headers, body, origin, clientAddress }: SignInRequest): Request {
  const passed = new Headers({ [clientAddressHeader]: clientAddress })
  passed.set('cookie', uniqueCookies(headers.get('cookie') ?? ''))
  for (const name of ['user-agent', 'accept', 'sec-fetch-site', 'sec-fetch-mode']) {
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
