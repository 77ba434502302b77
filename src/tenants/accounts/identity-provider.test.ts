import { CompactSign, exportJWK, generateKeyPair } from 'jose'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { silentLog, systemClock } from '../../platform/kernel/index.ts'
import { createIdentityProvider } from './identity-provider.ts'
import type { Identity } from './person.ts'

const issuer = 'https://login.example'
const discovery = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  userinfo_endpoint: `${issuer}/userinfo`,
}
const settings = { issuer, clientId: 'c', clientSecret: 's', scopes: [], groupsClaim: 'g', verifiedClaim: 'v' }
const given = { state: 's', nonce: 'n', codeChallenge: 'c', redirectUri: 'https://portico.example/callback' }

function begin(document: object): Promise<URL> {
  const answer = () => Promise.resolve(new Response(JSON.stringify(document)))
  const dependencies = { fetch: answer as typeof fetch, clock: systemClock, log: silentLog }
  return createIdentityProvider(settings, dependencies).authorizationUrl(given)
}

test('uses the endpoints of a discovery document over https', async () => {
  expect((await begin(discovery)).href).toMatch(/^https:\/\/login\.example\/authorize\?/)
})

test.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'])(
  'refuses a discovery document that leads to http with its %s',
  async (name) => {
    const document = { ...discovery, [name]: 'http://login.example/endpoint' }
    await expect(begin(document)).rejects.toThrow('the endpoint http://login.example/endpoint is not an https address')
  },
)

const { privateKey, publicKey } = await generateKeyPair('ES256')
const keys = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'one' }] }
const clock = createFakeClock()
const nowSeconds = clock.now() / 1000
const person = { sub: 'subject', email: 'kim@example.org', v: true, g: [] }

/** What the provider's ID token with these claims makes of a person. */
async function identify(claims: object): Promise<Identity> {
  const times = { iat: nowSeconds, exp: nowSeconds + 300 }
  const payload = { iss: issuer, aud: 'c', nonce: 'n', ...times, ...person, ...claims }
  const token = await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .sign(privateKey)
  const answers: Record<string, object> = {
    [`${issuer}/.well-known/openid-configuration`]: discovery,
    [discovery.token_endpoint]: { id_token: token, access_token: 'a' },
    [discovery.jwks_uri]: keys,
  }
  const fetch = ((address: string) =>
    Promise.resolve(Response.json(answers[String(address)]))) as typeof globalThis.fetch
  const provider = createIdentityProvider(settings, { fetch, clock, log: silentLog })
  return provider.identify({
    code: 'c',
    codeVerifier: 'v',
    nonce: 'n',
    redirectUri: 'https://portico.example/callback',
  })
}

test('reads the e-mail in lower case', async () => {
  expect(await identify({ email: 'Kim.O-Neill+a@Example.ORG' })).toMatchObject({ email: 'kim.o-neill+a@example.org' })
})

test.each([
  '\u212Aim@example.org',
  'kim@e\u212Aample.org',
  'k\u0130m@example.org',
  'k\u0131m@example.org',
  'ki\u0307m@example.org',
  '\uFF4Bim@example.org',
  '\u043Aim@example.org',
  'kim@\u0435xample.org',
  'kim@example\u3002org',
  'kim\u200B@example.org',
  'kim\u0000@example.org',
  'kim\uD800@example.org',
  ' kim@example.org',
  'kim@example.org\n',
  'kim@example.org, eve@example.org',
  'Kim <kim@example.org>',
  `${'k'.repeat(255)}@example.org`,
  'kim',
])('refuses %j as an e-mail, so that it is never the address of another person', async (email) => {
  await expect(identify({ email })).rejects.toMatchObject({ code: 'email_not_valid' })
})

test.each([
  ['an ID token of the future', { iat: nowSeconds + 31 }],
  ['an ID token of the far future', { iat: 1e300, exp: 1e301 }],
  ['an expired ID token', { exp: nowSeconds - 31 }],
  ['an ID token that is not valid yet', { nbf: nowSeconds + 31 }],
  ['a subject with U+0000', { sub: 'a\u0000' }],
  ['a subject with half of a surrogate pair', { sub: 'a\uD800' }],
  ['a subject that is no text', { sub: 7 }],
  ['an empty subject', { sub: '' }],
  ['a subject that is too long', { sub: 'a'.repeat(256) }],
])('refuses %s', async (_name, claims) => {
  await expect(identify(claims)).rejects.toMatchObject({ code: 'invalid_token' })
})

test.each([
  [true, true],
  ['true', true],
  [1, true],
  ['1', true],
  [false, false],
  ['false', false],
  ['TRUE', false],
  [2, false],
  [[true], false],
  [{ verified: true }, false],
  [null, false],
])('reads %j as a statement that the e-mail is verified: %j', async (v, isVerified) => {
  expect(await identify({ v })).toMatchObject({ isVerified })
})

test('accepts an ID token of a provider whose clock is half a minute ahead', async () => {
  expect(await identify({ iat: nowSeconds + 30 })).toMatchObject({ email: person.email })
})

test.each(['a\u0000b', 'a\uD800b', `${'a'.repeat(199)}\u{1F600}`])(
  'makes a name of %j that can be stored',
  async (name) => {
    const identity = await identify({ name })
    expect(identity.name).toContain('\uFFFD')
    expect(identity.name).not.toContain('\u0000')
    expect(identity.name.isWellFormed()).toBe(true)
  },
)
