import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { generateKeyPairSync } from 'node:crypto'
import { Provider } from 'oidc-provider'
import { freePort } from './free-port.ts'
import type { Browser } from './people.ts'

/** Claims of a person at the provider, by subject. */
export interface Identity {
  email: string
  email_verified?: boolean
  name?: string
  groups?: string[]
}

export interface IdentityProviderOptions {
  /** The address under which people reach Portico. */
  publicUrl: string
  /** The claims are in the ID token; false: only in the user information, as OpenID Connect requires by default. */
  claimsInToken?: boolean
}

export interface TestIdentityProvider {
  issuer: string
  clientId: string
  clientSecret: string
  people: Map<string, Identity>
  /** The person whom the provider signs in without a question; undefined: it shows a form with the subject. */
  signedIn: string | undefined
  /** Changes the discovery document. */
  changeDiscovery: ((document: Record<string, unknown>) => Record<string, unknown>) | undefined
  /** The provider answers nothing any more, until it is started again. */
  stop(): Promise<void>
  start(): Promise<void>
}

const clientId = 'portico tests'
const clientSecret = 'a client secret with special characters: +%&/ of tests'

/** A real OpenID Connect provider (oidc-provider) on a loopback port. */
export async function startIdentityProvider(options: IdentityProviderOptions): Promise<TestIdentityProvider> {
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined
  let server: Server
  const port = await freePort()
  const start = async () => {
    server = createServer((request, response) => answer(request, response))
    await once(server.listen(port, '127.0.0.1'), 'listening')
  }
  await start()
  const issuer = `http://127.0.0.1:${port}`
  const made: TestIdentityProvider = {
    issuer,
    clientId,
    clientSecret,
    people: new Map(),
    signedIn: undefined,
    changeDiscovery: undefined,
    start,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const provider = createProvider(made, options)
  const handle = provider.callback()
  answer = (request, response) => {
    const { pathname } = new URL(request.url!, issuer)
    if (pathname.startsWith('/interaction/')) void interact(provider, made, request, response)
    else if (pathname.startsWith('/.well-known/') && made.changeDiscovery)
      void sendDiscovery(made, provider, request, response)
    else void handle(request, response)
  }
  return made
}

function createProvider(
  { issuer, people }: TestIdentityProvider,
  { publicUrl, claimsInToken }: IdentityProviderOptions,
) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return new Provider(issuer, {
    clients: [
      { client_id: clientId, client_secret: clientSecret, redirect_uris: [`${publicUrl}/api/auth/callback/sso`] },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'one' }] },
    cookies: { keys: ['a key of tests'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    conformIdTokenClaims: claimsInToken !== true,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...people.get(sub) }) }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! })
      grant.addOIDCScope('openid email profile groups')
      await grant.save()
      return grant
    },
  })
}

/** Signs the person in, or shows a form. */
async function interact(
  provider: Provider,
  { signedIn }: TestIdentityProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const accountId = signedIn ?? new URL(request.url!, 'http://localhost').searchParams.get('subject')
  if (accountId) {
    await provider.interactionFinished(request, response, { login: { accountId, remember: false } })
    return
  }
  response.setHeader('content-type', 'text/html')
  response.end(
    `<!doctype html><title>Provider</title><form><input name="subject" aria-label="Subject"><button>Continue</button></form>`,
  )
}

async function sendDiscovery(
  { issuer, changeDiscovery }: TestIdentityProvider,
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const endpoints = {
    issuer,
    authorization_endpoint: `${issuer}${provider.pathFor('authorization')}`,
    token_endpoint: `${issuer}${provider.pathFor('token')}`,
    userinfo_endpoint: `${issuer}${provider.pathFor('userinfo')}`,
    jwks_uri: `${issuer}${provider.pathFor('jwks')}`,
  }
  request.resume()
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(changeDiscovery!(endpoints)))
}

export interface SignInSteps {
  /** Changes the address at which the browser reaches the provider. */
  atProvider?: (url: URL) => void
  /** Changes the address to which the provider sends the browser back. */
  back?: (url: URL) => void | Promise<void>
  returnTo?: string
}

/** Signs a browser in at the provider. Resolves to the address of the console to which the sign-in leads. */
export async function signInAtProvider(browser: Browser, url: string, steps: SignInSteps = {}): Promise<string> {
  const started = await browser.call('POST', '/api/auth/sign-in/social', { returnTo: steps.returnTo })
  if (started.status !== 200) throw new Error(`the sign-in does not start: ${started.status}`)
  const target = new URL(started.body.url)
  steps.atProvider?.(target)
  const back = await followProvider(target, url)
  await steps.back?.(back)
  const ended = await browser.call('GET', back.pathname + back.search)
  if (ended.status !== 302) throw new Error(`the callback answers ${ended.status}: ${JSON.stringify(ended.body)}`)
  return ended.headers.get('location')!
}

/** Follows redirects of the provider with its cookies until one leads to Portico. */
export async function followProvider(start: URL, url: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let target = start
  for (let step = 0; step < 10; step++) {
    if (target.origin === url) return target
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(target, { redirect: 'manual', headers: { cookie } })
    for (const set of response.headers.getSetCookie()) {
      const pair = set.split(';', 1)[0]!
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`the provider answers ${response.status}: ${await response.text()}`)
    target = new URL(location, target)
  }
  throw new Error('the provider redirects without end')
}
