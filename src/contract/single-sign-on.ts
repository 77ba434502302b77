import { z } from 'zod'
import { settingsVersionSchema } from './settings-version.ts'

/** Single sign-on: the rules of its settings, and the operator API with which it is set up and tested. */

export const issuerRule = 'must be an https address; http is accepted on this host only'

/** Also runs where the text is no address. */
export function isTrustedIssuer(issuer: string): boolean {
  const url = URL.parse(issuer)
  return url?.protocol !== 'http:' || ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
}

/** OpenID Connect Discovery 1.0, section 3: no query and no fragment. */
function isPlain(issuer: string): boolean {
  const url = URL.parse(issuer)
  return !url || (url.username === '' && url.password === '' && !/[?#]/.test(issuer))
}

export const singleSignOnName = z.string().trim().min(1).max(60)
export const singleSignOnClientId = z.string().min(1).max(500)
export const claimName = z.string().min(1).max(200)
export const emailDomain = z
  .string()
  .regex(/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i, 'must be a domain such as example.com')
  .transform((domain) => domain.toLowerCase())

const settings = {
  name: singleSignOnName.describe('Label on the sign-in page.'),
  issuer: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .refine(isTrustedIssuer, { error: issuerRule })
    .refine(isPlain, { error: 'must have no user name, password, query (?) or fragment (#)' })
    .describe('Exactly as the discovery document of the provider states it.'),
  clientId: singleSignOnClientId.describe('Id of Portico at the provider.'),
  verifiedClaim: claimName
    .default('email_verified')
    .describe('Claim that states that the e-mail is verified; `xms_edov` for Microsoft Entra.'),
  createAccounts: z
    .boolean()
    .default(true)
    .describe('Create an account at the first sign-in. false: only for people with an open invitation.'),
  allowedEmailDomains: z.array(emailDomain).max(100).default([]).describe('Domains that may sign in; empty: all.'),
}

/** What is stored, apart from the client secret. */
export const storedSingleSignOnSchema = z.object(settings)

export const putSingleSignOnSchema = z
  .strictObject({
    ...settings,
    clientSecret: z
      .string()
      .min(1)
      .max(2000)
      .optional()
      .describe('Is not shown again. Absent: the stored one, unless the issuer is another.'),
  })
  .meta({ id: 'PutSingleSignOn' })

const shown = z.object({
  name: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  verifiedClaim: z.string(),
  createAccounts: z.boolean(),
  allowedEmailDomains: z.array(z.string()),
})

/** How the person of a test would be admitted. */
export const admissionRules = ['identity', 'email', 'invitation', 'new'] as const

export const singleSignOnTestSchema = z.object({
  state: z.enum(['waiting', 'passed', 'failed']),
  startedAt: z.iso.datetime(),
  code: z.string().nullable().describe('Why it failed: a code of docs/operate/single-sign-on.md.'),
  detail: z.string().nullable().describe('What Portico found, in English.'),
  rule: z
    .enum(admissionRules)
    .nullable()
    .describe(
      'Why the person would be admitted: has signed in with this identity, has an account with this e-mail, is invited, or gets a new account.',
    ),
  person: z
    .object({
      issuer: z.string(),
      email: z.string().describe('Empty: the provider states none.'),
      emailVerified: z.boolean(),
      name: z.string(),
      groups: z.int().describe('How many groups the provider states.'),
    })
    .nullable()
    .describe('What the provider states; null if the sign-in did not get so far.'),
})

export const singleSignOnSchema = z
  .object({
    source: z
      .enum(['configuration', 'console'])
      .nullable()
      .describe('Where the settings in force come from; null: single sign-on is off. The configuration wins.'),
    inForce: shown.nullable(),
    draft: shown.nullable().describe('The stored settings, which can be tested. Without the client secret.'),
    isDraftInForce: z.boolean(),
    redirectUrl: z
      .string()
      .nullable()
      .describe('To be registered at the provider; null: `server.publicUrl` is not set.'),
    test: singleSignOnTestSchema.nullable().describe('The last test of the signed-in person with these settings.'),
    canSwitchOn: z.boolean().describe('This person has tested these settings within the last hour.'),
    version: settingsVersionSchema,
  })
  .meta({ id: 'SingleSignOn' })

export const startedSingleSignOnTestSchema = singleSignOnSchema
  .extend({ url: z.string().nullable().describe('Where the test sign-in continues; null: it has failed already.') })
  .meta({ id: 'StartedSingleSignOnTest' })

export type StoredSingleSignOn = z.output<typeof storedSingleSignOnSchema>
export type PutSingleSignOn = z.output<typeof putSingleSignOnSchema>
export type SingleSignOnBody = z.output<typeof singleSignOnSchema>
export type StartedSingleSignOnTest = z.output<typeof startedSingleSignOnTestSchema>
export type SingleSignOnTest = z.output<typeof singleSignOnTestSchema>
