import { hash } from 'node:crypto'
import type { BetterAuthPlugin } from 'better-auth'
import { APIError } from 'better-auth/api'
import type { MembershipRole } from '../../contract/people.ts'
import type { admissionRules } from '../../contract/single-sign-on.ts'
import type { Clock } from '../../platform/kernel/index.ts'
import {
  type IdentityProvider,
  type IdentityProviderSettings,
  SingleSignOnError,
  type SingleSignOnFailure,
} from './identity-provider.ts'
import type { GroupRoles, Identity } from './person.ts'
import { type Admission, type createSingleSignOnStore, singleSignOnId } from './single-sign-on.store.ts'

export interface SingleSignOnRules {
  readonly createAccounts: boolean
  /** Empty: all. In lower case. */
  readonly allowedEmailDomains: readonly string[]
  readonly roles: readonly GroupRole[]
}

export interface SingleSignOnSettings extends IdentityProviderSettings, SingleSignOnRules {
  /** Label on the sign-in page. */
  readonly name: string
  readonly sessionHours: number
}

type SingleSignOnStore = ReturnType<typeof createSingleSignOnStore>

export interface AdmissionDependencies {
  store: Pick<SingleSignOnStore, 'admit'>
  rules: SingleSignOnRules
  clock: Clock
  /** The HTTP request that runs, for the admin log. */
  requestId: () => string | null
}

type Admit = (identity: Identity) => Promise<void>

function assertEmail({ email, isVerified }: Identity, { allowedEmailDomains }: SingleSignOnRules) {
  if (email === '' || !isVerified) throw new SingleSignOnError('email_not_verified', 'no verified email')
  const domain = email.slice(email.lastIndexOf('@') + 1)
  if (allowedEmailDomains.length > 0 && !allowedEmailDomains.includes(domain))
    throw new SingleSignOnError('email_domain_not_allowed', `the domain ${domain} is not allowed`)
}

export type AdmissionRule = (typeof admissionRules)[number]

/** How a person of the provider would be admitted, without a change. Throws SingleSignOnError. */
export function previewAdmission({ store, clock }: { store: Pick<SingleSignOnStore, 'preview'>; clock: Clock }) {
  return async (identity: Identity, rules: SingleSignOnRules): Promise<AdmissionRule> => {
    assertEmail(identity, rules)
    const decision = await store.preview(identity, rules, clock.now())
    if ('refused' in decision) throw new SingleSignOnError(decision.refused, refusedByRules)
    return decision.rule
  }
}

const refusedByRules = 'the account rules refuse the sign-in'

/** Lets people of the provider in. Throws SingleSignOnError. */
export function createAdmission({ store, rules, clock, requestId }: AdmissionDependencies): Admit {
  return async (identity) => {
    assertEmail(identity, rules)
    const { email, groups } = identity
    const roles = rolesOfGroups(groups, rules.roles)
    const change = { actor: { name: email, requestId: requestId() }, atMs: clock.now() }
    const admitted: Admission = await store.admit(identity, { roles, createAccounts: rules.createAccounts }, change)
    if ('refused' in admitted) throw new SingleSignOnError(admitted.refused, refusedByRules)
  }
}

/**
 * The provider for better-auth, which makes and checks state, PKCE and nonce, and starts the session. The account exists by then: `admit`
 * has created it. The library never receives the tokens, so it cannot store them.
 */
export function singleSignOnPlugin(provider: IdentityProvider, admit: Admit): BetterAuthPlugin {
  const identify = async ({ raw, expectedIdTokenNonce: nonce }: GivenTokens): Promise<Identity> => {
    const { code, codeVerifier, redirectUri } = raw as unknown as Exchange
    if (nonce === undefined) throw new SingleSignOnError('invalid_token', 'there is no expected nonce')
    const identity = await provider.identify({ code, codeVerifier, nonce, redirectUri })
    await admit(identity)
    return identity
  }
  const made = {
    id: singleSignOnId,
    name: singleSignOnId,
    issuer: provider.issuer,
    requiresIdTokenNonce: true,
    accountSubject: ({ profile }: { profile: object }) => (profile as Identity).accountId,
    options: { disableSignUp: true, disableIdTokenSignIn: true },
    createAuthorizationURL: ({ state, codeVerifier, redirectURI: redirectUri, idTokenNonce: nonce = '' }: Started) => {
      const codeChallenge = hash('sha256', codeVerifier, 'base64url')
      return provider.authorizationUrl({ state, nonce, codeChallenge, redirectUri }).catch(asApiError)
    },
    // `getUserInfo` exchanges the code, because the library hides the reason of a failure here.
    validateAuthorizationCode: async ({ code, codeVerifier, redirectURI: redirectUri }: GivenCode) => ({
      raw: { code, codeVerifier, redirectUri } satisfies Partial<Exchange> as Record<string, unknown>,
    }),
    getUserInfo: async (tokens: GivenTokens) => {
      const identity = await identify(tokens).catch(asApiError)
      const { email, name } = identity
      return { user: { email, name, emailVerified: true }, data: identity }
    },
  }
  return { id: 'portico-single-sign-on', init: () => ({ context: { socialProviders: [made] } }) }
}

interface Started {
  state: string
  codeVerifier: string
  redirectURI: string
  idTokenNonce?: string | undefined
}

interface GivenCode {
  code: string
  codeVerifier?: string | undefined
  redirectURI: string
}

interface Exchange {
  code: string
  codeVerifier: string
  redirectUri: string
}

interface GivenTokens {
  raw?: Record<string, unknown> | undefined
  expectedIdTokenNonce?: string | undefined
}

const statuses: Partial<Record<SingleSignOnFailure, 'SERVICE_UNAVAILABLE'>> = {
  provider_unavailable: 'SERVICE_UNAVAILABLE',
}

/** The form in which the library reports the code to its caller. */
function asApiError(error: unknown): never {
  if (!(error instanceof SingleSignOnError)) throw error
  throw new APIError(statuses[error.code] ?? 'FORBIDDEN', { code: error.code, message: error.code, cause: error })
}

/** One group of the provider and the role that it gives. */
type GroupRole =
  | { readonly group: string; readonly role: 'operator' }
  | { readonly group: string; readonly role: MembershipRole; readonly organisation: string }

/** The roles of a person with these groups; of several roles in one organisation the higher one. */
export function rolesOfGroups(groups: readonly string[], mapping: readonly GroupRole[]): GroupRoles {
  const held = new Set(groups)
  const memberships = new Map<string, MembershipRole>()
  let isOperator = false
  for (const given of mapping) {
    if (!held.has(given.group)) continue
    if (given.role === 'operator') isOperator = true
    else if (memberships.get(given.organisation) !== 'administrator') memberships.set(given.organisation, given.role)
  }
  return { isOperator, memberships }
}
