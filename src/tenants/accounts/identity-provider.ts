import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'
import { emailSchema } from '../../contract/people.ts'
import { type Clock, describeError, type Log, readAtMost, toStorable } from '../../platform/kernel/index.ts'
import type { Identity } from './person.ts'

/** The endpoints of a provider are read again after this time. */
const discoveryMs = 3600_000
/** Limit for one call of the provider: a person is waiting. */
const callMs = 5_000
/** A discovery document has some 5 KB; an ID token with a thousand groups some 50 KB. */
const maximumAnswerBytes = 512 * 1024
/** Signatures that only the provider can make. Those with a shared secret and `none` are not accepted. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const clockToleranceSeconds = 30
/** Groups of one person that are compared with the configuration; Entra sends at most 200. */
const maximumGroups = 2000

export interface IdentityProviderSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: readonly string[]
  readonly groupsClaim: string
  /** Claim that states whether the email is verified. */
  readonly verifiedClaim: string
}

export interface IdentityProviderDependencies {
  /** Calls the provider; a server inside the company may need a proxy or another certificate authority. */
  fetch: typeof fetch
  clock: Clock
  log: Log
}

/** Why a sign-in with the provider ended. The page of the console has a text for each code. */
export type SingleSignOnFailure =
  | 'provider_unavailable'
  | 'invalid_client'
  | 'invalid_code'
  | 'invalid_token'
  | 'email_not_verified'
  | 'email_not_valid'
  | 'email_domain_not_allowed'
  | 'no_account'
  | 'email_belongs_to_another_identity'

export class SingleSignOnError extends Error {
  readonly code: SingleSignOnFailure

  constructor(code: SingleSignOnFailure, internal: string) {
    super(internal)
    this.name = 'SingleSignOnError'
    this.code = code
  }
}

const discoverySchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  jwks_uri: z.url(),
  userinfo_endpoint: z.url().optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).default(['client_secret_basic']),
})
type Discovery = z.output<typeof discoverySchema>

/** OpenID Connect Core 1.0, section 2: at most 255 ASCII characters, compared as they are. */
const subjectSchema = z.string().regex(/^[\u0020-\u007e]{1,255}$/)

const tokensSchema = z.object({ id_token: z.string(), access_token: z.string() })

/** The endpoints and keys of the provider, read at the first sign-in and then once per hour. A failure is not kept. */
function createDiscovery({ issuer }: IdentityProviderSettings, { fetch, clock, log }: IdentityProviderDependencies) {
  const call = createCalls(fetch)
  let known: { discovery: Promise<Discovery & { keys: JWTVerifyGetKey }>; untilMs: number } | undefined

  async function read() {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const discovery = parse(discoverySchema, await call(address), 'the discovery document')
    if (discovery.issuer !== issuer)
      throw new SingleSignOnError('provider_unavailable', `the provider states the issuer ${discovery.issuer}`)
    // Only the endpoints of an issuer without TLS, which is on this host, may be without TLS.
    const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = discovery
    for (const endpoint of [authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint])
      if (endpoint !== undefined && issuer.startsWith('https:') && !endpoint.startsWith('https:'))
        throw new SingleSignOnError('provider_unavailable', `the endpoint ${endpoint} is not an https address`)
    const keys = createRemoteJWKSet(new URL(discovery.jwks_uri), {
      [customFetch]: fetch as never,
      timeoutDuration: callMs,
    })
    return { ...discovery, keys }
  }

  return () => {
    if (known && known.untilMs > clock.now()) return known.discovery
    const discovery = read()
    known = { discovery, untilMs: clock.now() + discoveryMs }
    discovery.catch((error: unknown) => {
      known = undefined
      log.warn({ error: describeError(error) }, 'the single sign-on provider cannot be used')
    })
    return discovery
  }
}

export type IdentityProvider = ReturnType<typeof createIdentityProvider>

/** An OpenID Connect provider: authorization code flow with PKCE. Its tokens stay in this file and are not stored. */
export function createIdentityProvider(settings: IdentityProviderSettings, dependencies: IdentityProviderDependencies) {
  const call = createCalls(dependencies.fetch)
  const discover = createDiscovery(settings, dependencies)
  const { clock } = dependencies

  async function verify(token: string, nonce: string): Promise<JWTPayload> {
    const { issuer, keys } = await discover()
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: settings.clientId,
      algorithms,
      requiredClaims: ['sub', 'exp', 'iat'],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(clock.now()),
    }).catch((error: unknown) => {
      const isDown = !(error instanceof errors.JOSEError) || error instanceof errors.JWKSTimeout
      throw new SingleSignOnError(isDown ? 'provider_unavailable' : 'invalid_token', describeError(error))
    })
    // jose compares `iat` with the clock only where tokens have a maximum age.
    if (payload.iat! > clock.now() / 1000 + clockToleranceSeconds)
      throw new SingleSignOnError('invalid_token', 'the ID token was issued in the future')
    if (!subjectSchema.safeParse(payload.sub).success)
      throw new SingleSignOnError('invalid_token', 'the subject of the ID token is not valid')
    if (payload['nonce'] !== nonce) throw new SingleSignOnError('invalid_token', 'the nonce of the ID token differs')
    // A token for several audiences names the one that requested it.
    const isShared = Array.isArray(payload.aud) && payload.aud.length > 1
    if ((isShared || payload['azp'] !== undefined) && payload['azp'] !== settings.clientId)
      throw new SingleSignOnError('invalid_token', 'the ID token is for another client')
    return payload
  }

  return {
    issuer: settings.issuer,

    async authorizationUrl(given: { state: string; nonce: string; codeChallenge: string; redirectUri: string }) {
      const { authorization_endpoint: endpoint } = await discover()
      const url = new URL(endpoint)
      const scopes = new Set(['openid', ...settings.scopes])
      for (const [name, value] of Object.entries({
        response_type: 'code',
        client_id: settings.clientId,
        redirect_uri: given.redirectUri,
        scope: [...scopes].join(' '),
        state: given.state,
        nonce: given.nonce,
        code_challenge: given.codeChallenge,
        code_challenge_method: 'S256',
      }))
        url.searchParams.set(name, value)
      return url
    },

    /** Exchanges the code of a callback. Throws SingleSignOnError. */
    async identify(given: {
      code: string
      codeVerifier: string
      nonce: string
      redirectUri: string
    }): Promise<Identity> {
      const discovery = await discover()
      const request = tokenRequest(settings, discovery.token_endpoint_auth_methods_supported, given)
      const tokens = parse(tokensSchema, await call(discovery.token_endpoint, request), 'the token')
      const claims = await verify(tokens.id_token, given.nonce)
      const { userinfo_endpoint: endpoint } = discovery
      const needed = ['email', settings.verifiedClaim, settings.groupsClaim]
      if (endpoint === undefined || needed.every((name) => claims[name] !== undefined))
        return toIdentity([claims], discovery.issuer, settings)
      const headers = { authorization: `Bearer ${tokens.access_token}` }
      const more = parse(z.looseObject({ sub: z.string() }), await call(endpoint, { headers }), 'the user information')
      if (more.sub !== claims.sub)
        throw new SingleSignOnError('invalid_token', 'the user information is about another person')
      return toIdentity([claims, more], discovery.issuer, settings)
    },
  }
}

/** One call of the provider, bounded in time and size. Throws as `tokenFailure` has it for a token request, else `provider_unavailable`. */
function createCalls(fetch: IdentityProviderDependencies['fetch']) {
  return async (address: string, init: RequestInit = {}): Promise<unknown> => {
    let failure: SingleSignOnFailure = 'provider_unavailable'
    try {
      const response = await fetch(address, { ...init, redirect: 'error', signal: AbortSignal.timeout(callMs) })
      const text = await readBounded(response)
      if (response.ok) return JSON.parse(text)
      if (init.method === 'POST') failure = tokenFailure(response.status, text)
      throw new Error(`${new URL(address).host} answers with ${response.status}`)
    } catch (error) {
      throw new SingleSignOnError(failure, describeError(error))
    }
  }
}

/** RFC 6749, 5.2: 401 or 400 for a wrong client id or secret, 400 for a code that is not valid. */
function tokenFailure(status: number, text: string): SingleSignOnFailure {
  if (status === 401 || (status === 400 && text.includes('"invalid_client"'))) return 'invalid_client'
  return status === 400 ? 'invalid_code' : 'provider_unavailable'
}

async function readBounded(response: Response): Promise<string> {
  const bytes = await readAtMost(response.body, maximumAnswerBytes)
  if (!bytes) throw new Error(`the answer has more than ${maximumAnswerBytes} bytes`)
  return bytes.toString('utf8')
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new SingleSignOnError(
    'provider_unavailable',
    `${what} of the provider: ${issue?.path.join('.')} ${issue?.message}`,
  )
}

function tokenRequest(
  { clientId, clientSecret }: IdentityProviderSettings,
  methods: readonly string[],
  { code, codeVerifier, redirectUri }: { code: string; codeVerifier: string; redirectUri: string },
): RequestInit {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  })
  const headers: Record<string, string> = { accept: 'application/json' }
  if (methods.includes('client_secret_basic')) {
    // RFC 6749, 2.3.1: both parts are form-encoded first.
    const encode = (text: string) => new URLSearchParams({ text }).toString().slice('text='.length)
    headers['authorization'] = `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64')}`
  } else {
    body.set('client_id', clientId)
    body.set('client_secret', clientSecret)
  }
  return { method: 'POST', headers, body }
}

/** `sources`: the claims of the ID token, then those of the user information. Throws `email_not_valid`. */
function toIdentity(sources: JWTPayload[], issuer: string, settings: IdentityProviderSettings): Identity {
  const { groupsClaim, verifiedClaim } = settings
  // The email and its verification must come from the same source.
  const contact = sources.find((claims) => claims['email'] !== undefined && claims[verifiedClaim] !== undefined)
  const first = (name: string) => sources.find((claims) => claims[name] !== undefined)?.[name]
  const [email, name] = [contact?.['email'], first('name')]
  return {
    // A subject is unique within its issuer only.
    accountId: `${issuer} ${sources[0]?.sub}`,
    issuer,
    email: typeof email === 'string' && email !== '' ? readEmail(email) : '',
    // Entra sends numbers or texts.
    isVerified: ([true, 'true', 1, '1'] as unknown[]).includes(contact?.[verifiedClaim]),
    name: typeof name === 'string' ? toStorable(name.trim().slice(0, 200)) : '',
    groups: [first(groupsClaim)]
      .flat()
      .slice(0, maximumGroups)
      .filter((group) => typeof group === 'string'),
  }
}

/** By the rule of invitations, so that an address has one spelling. */
function readEmail(text: string): string {
  const read = emailSchema.safeParse(text)
  if (read.success) return read.data
  throw new SingleSignOnError('email_not_valid', 'the email of the provider is not an ASCII e-mail address')
}
