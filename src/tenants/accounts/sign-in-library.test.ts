import { scryptSync } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Log, systemClock } from '../../platform/kernel/index.ts'
import type { AuthRows } from './auth-rows.store.ts'
import { createSignIn, type SignInDependencies } from './sign-in.ts'
import { createSignInLibrary } from './sign-in-library.ts'

const lost = new Error('the database has ended the connection')
const rows = new Proxy({} as AuthRows, { get: () => () => Promise.reject(lost) })
const logged: unknown[] = []
const note = (fields: unknown, message: string) => void logged.push([fields, message])
const log = { debug: note, info: note, warn: note, error: note, child: () => log } as Log
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

test('logs what it reports with its words', async () => {
  await post('/sign-in/email', { callbackURL: 'https://evil.example' })
  expect(JSON.stringify(logged)).toContain('Invalid callbackURL')
})

test('leads a browser back to the sign-in page after an unexpected failure of single sign-on, and logs the cause', async () => {
  const rules = {
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
  const taken = { isAllowed: true, windowEndsAt: new Date() }
  const attempts = new Proxy({} as SignInDependencies['attempts'], { get: () => () => Promise.resolve(taken) })
  const signIn = createSignIn({
    ...dependencies,
    openRows: () => rows,
    store: {} as SignInDependencies['store'],
    attempts,
    passwordSignIn: true,
    singleSignOn: { rules, store: { admit: () => Promise.reject(lost) } },
  })
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
