import { scryptSync } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Log, systemClock } from '../../platform/kernel/index.ts'
import type { AuthRows } from './auth-rows.store.ts'
import { createSignIn, type SignInDependencies } from './sign-in.ts'
import { signInEndpoints } from './sign-in-endpoints.ts'
import { createSignInLibrary } from './sign-in-library.ts'

const lost = new Error('the database has ended the connection')
const rows = new Proxy({} as AuthRows, { get: () => () => Promise.reject(lost) })
const logged: unknown[] = []
const note = (level: string) => (fields: unknown, message: string) => void logged.push([level, fields, message])
const log = Object.fromEntries(
  ['debug', 'info', 'warn', 'error'].map((level) => [level, note(level)]),
) as unknown as Log
const methods = ['debug', 'log', 'info', 'warn', 'error', 'trace'] as const

const written = () => methods.flatMap((name) => vi.mocked(console[name]).mock.calls)
beforeEach(() => {
  logged.length = 0
  for (const name of methods) vi.spyOn(console, name).mockImplementation(() => {})
})
afterEach(() => {
  vi.restoreAllMocks()
})

const dependencies = {
  replaceValue: () => Promise.reject(lost),
  secret: 'a secret of tests, 32 bytes or more',
  publicUrl: undefined,
  singleSignOn: undefined,
  fetch,
  clock: systemClock,
  log,
}
const request = {
  requestId: 'req_1',
  method: 'POST',
  headers: new Headers(),
  origin: 'http://portico.example',
  clientAddress: '127.0.0.1',
}

const provider = {
  name: 'Example',
  issuer: 'https://login.example',
  clientId: 'c',
  clientSecret: 's',
  scopes: [],
  groupsClaim: 'groups',
  verifiedClaim: 'email_verified',
  createAccounts: true,
  allowedEmailDomains: [],
  roles: [],
  sessionHours: 12,
}

/** With attempts that are never too many. */
function openSignIn() {
  const taken = { isAllowed: true, windowEndsAt: new Date() }
  const attempts = new Proxy({} as SignInDependencies['attempts'], { get: () => () => Promise.resolve(taken) })
  return createSignIn({
    ...dependencies,
    openRows: () => rows,
    store: {} as SignInDependencies['store'],
    attempts,
    passwordSignIn: true,
    singleSignOn: {
      setup: {
        load: () => Promise.resolve(provider),
        isTest: () => false,
        finishTest: () => Promise.reject(lost),
      },
      store: { admit: () => Promise.reject(lost) },
    },
  })
}

function post(path: string, body: unknown, headers = {}): Promise<Response> {
  const library = createSignInLibrary({ ...dependencies, rows, requestId: () => null })
  return library.respond({ ...request, path, body, headers: new Headers(headers) })
}

test('passes the error of the database to its caller, and writes nothing to the console', async () => {
  const given = { email: 'kim@example.org', password: 'correct horse battery staple' }
  await expect(post('/sign-in/email', given)).rejects.toThrow(lost)
  expect(written()).toEqual([])
})

test.each<[string, unknown, object]>([
  ['an address of another site', { callbackURL: 'https://evil.example' }, {}],
  ['an address that is no address', { callbackURL: '//[' }, {}],
  ['a wrong type', { email: 7 }, {}],
  ['no object', 7, {}],
  ['an odd cookie', {}, { cookie: 'portico.session_token=%zz; portico.session_data=e30.x; portico.two_factor=x.y' }],
  ['a foreign page', {}, { cookie: 'a=b', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }],
])('writes nothing to the console for a refused sign-in with %s', async (_name, fields, headers) => {
  const body = typeof fields === 'object' ? { email: 'no e-mail', password: 'a'.repeat(12), ...fields } : fields
  const { status } = await post('/sign-in/email', body, headers)
  expect([400, 401, 403]).toContain(status)
  expect(written()).toEqual([])
})

const fields = Object.entries(signInEndpoints).flatMap(([route, endpoint]) =>
  endpoint.fields.map((field): [string, string] => [route, field]),
)
test.each(fields)('refuses for %s a field %s that is no text', async (route, field) => {
  const [method = '', path = ''] = route.split(' ')
  const signIn = openSignIn()
  for (const value of [{ toString: 1 }, Object.create(null), ['a'], 7, true, null]) {
    const answer = signIn.handle({ ...request, method, path, body: { [field]: value } })
    await expect(answer).rejects.toMatchObject({ code: 'invalid_request', param: field })
  }
})

test('logs what it reports with its words', async () => {
  await post('/sign-in/email', { callbackURL: 'https://evil.example' })
  expect(JSON.stringify(logged)).toContain('Invalid callbackURL')
})

test.each<[string, string, string]>([
  ['without a state', 'error=words-of-a-stranger', 'State not found'],
  ['with another state', 'state=words-of-a-stranger&code=c', 'State mismatch'],
])('warns of a callback %s without its text', async (_name, query, words) => {
  const found = { ...dependencies, singleSignOn: { rules: provider, store: { admit: () => Promise.reject(lost) } } }
  const none = new Proxy({} as AuthRows, { get: () => () => Promise.resolve([]) })
  const library = createSignInLibrary({ ...found, rows: none, requestId: () => null })
  const callback = { ...request, method: 'GET', path: `/callback/sso?${query}`, body: undefined }
  expect((await library.respond(callback)).status).toBe(302)
  expect(logged).toEqual([['warn', { error: expect.stringContaining(words) }, expect.any(String)]])
  expect(JSON.stringify(logged)).not.toContain('stranger')
})

test('leads a browser back to the sign-in page after an unexpected failure of single sign-on, and logs the cause', async () => {
  const signIn = openSignIn()
  const callback = { ...request, method: 'GET', path: '/callback/sso', body: undefined }
  const answer = await signIn.handle({ ...callback, origin: 'http://[' })
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console/sign-in?error=internal_error'])
  expect(JSON.stringify(logged)).toContain('Invalid URL')
  expect(written()).toEqual([])
})

test('hashes passwords with scrypt and a salt unless it is given another way', async () => {
  const library = createSignInLibrary({ ...dependencies, rows, requestId: () => null })
  const [one, two] = [await library.hashPassword('correct horse'), await library.hashPassword('correct horse')]
  const [salt, key] = one.split(':')
  expect(two).not.toBe(one)
  // The parameters of OWASP for a cost of 2^14.
  const cost = { N: 2 ** 14, r: 16, p: 1, maxmem: 2 ** 26 }
  expect(scryptSync('correct horse', salt!, 64, cost).toString('hex')).toBe(key)
})
