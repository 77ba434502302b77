import { expect, test } from 'vitest'
import { silentLog, systemClock } from '../kernel/index.ts'
import { createIdentityProvider } from './identity-provider.ts'

const issuer = 'https://login.example'
const discovery = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  userinfo_endpoint: `${issuer}/userinfo`,
}
const given = { state: 's', nonce: 'n', codeChallenge: 'c', redirectUri: 'https://portico.example/callback' }

function begin(document: object): Promise<URL> {
  const settings = { issuer, clientId: 'c', clientSecret: 's', scopes: [], groupsClaim: 'g', verifiedClaim: 'v' }
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
