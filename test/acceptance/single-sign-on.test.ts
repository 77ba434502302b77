import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabasePlace } from '../harness/database.ts'
import { signInAtProvider, startIdentityProvider, type TestIdentityProvider } from '../harness/identity-provider.ts'
import { createPerson, openBrowser, signIn, testPassword } from '../harness/people.ts'
import { expectStatus, freePort, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'

let provider: TestIdentityProvider
let portico: TestPortico
let url: string
let team: TestOrganisation
let other: TestOrganisation

function settingsOf(port: number, roles: object[], more: object = {}) {
  const { issuer, clientId } = provider
  const scopes = ['openid', 'email', 'profile', 'groups']
  const allowedEmailDomains = ['example.org']
  return {
    settings: {
      server: { port, publicUrl: `http://127.0.0.1:${port}` },
      accounts: { singleSignOn: { name: 'Example', issuer, clientId, scopes, allowedEmailDomains, roles, ...more } },
    },
    environment: { PORT: String(port), PORTICO_SSO_CLIENT_SECRET: provider.clientSecret },
  }
}

beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  provider = await startIdentityProvider({ publicUrl: url })
  // The organisations of the mapping exist before the configuration names them.
  const place = await freshDatabasePlace()
  const before = await startPortico({ place })
  team = await before.createOrganisation({ name: 'Team' })
  other = await before.createOrganisation({ name: 'Other' })
  await before.stop()
  const roles = [
    { group: 'platform', role: 'operator' },
    { group: 'team-admins', role: 'administrator', organisation: team.id },
    { group: 'team', role: 'member', organisation: team.id },
    { group: 'other', role: 'member', organisation: other.id },
  ]
  portico = await startPortico({ place, ...settingsOf(port, roles) })
  const stop = portico.stop
  portico.stop = async () => {
    await stop()
    await place.remove()
  }
})
afterAll(async () => {
  await portico?.stop()
  await provider?.stop()
})
afterEach(() => {
  provider.changeDiscovery = undefined
})

/** Signs in as this person of the provider. */
async function enter(sub: string, steps = {}) {
  provider.signedIn = sub
  const browser = openBrowser(url)
  const location = await signInAtProvider(browser, url, steps)
  return { browser, location, me: (await browser.call('GET', '/api/me')).body }
}

const roleIn = (me: { organisations: { id: string; role: string }[] }, id: string) =>
  me.organisations.find((organisation) => organisation.id === id)?.role

describe('the first sign-in', () => {
  test('creates an account with the roles of the groups', async () => {
    provider.people.set('ann', {
      email: 'Ann@example.org',
      email_verified: true,
      name: 'Ann',
      groups: ['team', 'team-admins', 'unknown'],
    })
    const { location, me } = await enter('ann', { returnTo: '/console/account' })
    expect(location).toBe('/console/account')
    expect(me).toMatchObject({ person: { email: 'ann@example.org', name: 'Ann' }, isOperator: false })
    expect(me.organisations).toEqual([{ id: team.id, name: 'Team', role: 'administrator' }])
    expect((await openBrowser(url).call('GET', '/api/setup')).body).toMatchObject({
      passwordSignIn: true,
      singleSignOn: { name: 'Example' },
    })
  })

  test('reads claims from the ID token, too', async () => {
    const port = await freePort()
    const second = await startIdentityProvider({ publicUrl: `http://127.0.0.1:${port}`, claimsInToken: true })
    second.people.set('tok', { email: 'tok@example.org', email_verified: true, name: 'Tok', groups: ['platform'] })
    second.signedIn = 'tok'
    const roles = [{ group: 'platform', role: 'operator' }]
    await using fresh = await startPortico(settingsOf(port, roles, { issuer: second.issuer }))
    const browser = openBrowser(fresh.url)
    expect(await signInAtProvider(browser, fresh.url)).toBe('/console')
    expect((await browser.call('GET', '/api/me')).body.isOperator).toBe(true)
    await second.stop()
  })

  test('is refused without a verified e-mail, and from another domain', async () => {
    provider.people.set('unverified', { email: 'u@example.org', email_verified: false })
    provider.people.set('none', { email: 'n@example.org' })
    provider.people.set('foreign', { email: 'f@other.example', email_verified: true })
    expect((await enter('unverified')).location).toBe('/console/sign-in?error=email_not_verified')
    expect((await enter('none')).location).toBe('/console/sign-in?error=email_not_verified')
    const foreign = await enter('foreign')
    expect(foreign.location).toBe('/console/sign-in?error=email_domain_not_allowed')
    expect(foreign.me.error.code).toBe('not_signed_in')
    const { items } = (await portico.operator('GET', '/api/people')).body
    const emails = items.map(({ email }: { email: string }) => email)
    for (const email of ['u@example.org', 'n@example.org', 'f@other.example']) expect(emails).not.toContain(email)
  })

  test('does not create accounts where the operator wants invitations', async () => {
    const port = await freePort()
    const second = await startIdentityProvider({ publicUrl: `http://127.0.0.1:${port}` })
    second.people.set('ida', { email: 'ida@example.org', email_verified: true, name: 'Ida' })
    second.signedIn = 'ida'
    const given = settingsOf(port, [], { issuer: second.issuer, createAccounts: false })
    await using fresh = await startPortico(given)
    const browser = openBrowser(fresh.url)
    expect(await signInAtProvider(browser, fresh.url)).toBe('/console/sign-in?error=no_account')
    const invited = await fresh.operator('POST', '/api/operator-invitations', { email: 'ida@example.org' })
    const returnTo = `/console/invitations/${expectStatus(invited, 201).token}`
    expect(await signInAtProvider(browser, fresh.url, { returnTo })).toBe(returnTo)
    expectStatus(await browser.call('POST', `/api/invitations/${invited.body.token}/accept`, {}), 200)
    expect((await browser.call('GET', '/api/me')).body.isOperator).toBe(true)
    await second.stop()
  })
})

describe('changed groups', () => {
  test('change the roles at the next sign-in, and never those that people gave', async () => {
    provider.people.set('gus', { email: 'gus@example.org', email_verified: true, groups: ['platform', 'team-admins'] })
    const first = await enter('gus')
    expect([first.me.isOperator, roleIn(first.me, team.id)]).toEqual([true, 'administrator'])
    const invited = await portico.operator('POST', `/api/organisations/${other.id}/invitations`, {
      email: 'gus@example.org',
      role: 'administrator',
    })
    expectStatus(await first.browser.call('POST', `/api/invitations/${invited.body.token}/accept`, {}), 200)
    provider.people.get('gus')!.groups = ['team', 'other']
    const second = await enter('gus')
    expect([second.me.isOperator, roleIn(second.me, team.id), roleIn(second.me, other.id)]).toEqual([
      false,
      'member',
      'administrator',
    ])
    provider.people.get('gus')!.groups = []
    const third = await enter('gus')
    expect([roleIn(third.me, team.id), roleIn(third.me, other.id)]).toEqual([undefined, 'administrator'])
    const { items } = (await portico.operator('GET', '/api/admin-log?limit=50&actor=gus@example.org')).body
    const changes = items.map(({ action, before, after }: Record<string, unknown>) => [action, before, after])
    expect(changes).toContainEqual([
      'member.updated',
      expect.objectContaining({ role: 'administrator' }),
      expect.objectContaining({ role: 'member' }),
    ])
    expect(changes).toContainEqual(['member.removed', expect.objectContaining({ role: 'member' }), null])
    expect(changes).toContainEqual([
      'person.updated',
      expect.objectContaining({ isOperator: true }),
      expect.objectContaining({ isOperator: false }),
    ])
  })
})

describe('an account with a password', () => {
  test('is not opened by an unverified e-mail', async () => {
    await createPerson(portico, { email: 'victim@example.org' })
    provider.people.set('thief', { email: 'victim@example.org', email_verified: false })
    expect((await enter('thief')).location).toBe('/console/sign-in?error=email_not_verified')
    await signIn(url, 'victim@example.org')
  })

  test('is not opened by an e-mail whose lower case is that of another person', async () => {
    const kim = await createPerson(portico, { email: 'kim@example.org' })
    provider.people.set('kelvin', { email: '\u212Aim@example.org', email_verified: true })
    expect((await enter('kelvin')).location).toBe('/console/sign-in?error=email_not_valid')
    expect((await kim.call('GET', '/api/me')).status).toBe(200)
    await signIn(url, 'kim@example.org')
  })

  test('loses its password and sessions when the owner of the e-mail signs in', async () => {
    const early = await createPerson(portico, { email: 'boss@example.org', organisationId: team.id })
    provider.people.set('boss', { email: 'boss@example.org', email_verified: true, groups: ['platform'] })
    const { me } = await enter('boss')
    expect([me.isOperator, roleIn(me, team.id)]).toEqual([true, 'member'])
    expect((await early.call('GET', '/api/me')).status).toBe(401)
    const given = { email: 'boss@example.org', password: testPassword }
    expect((await openBrowser(url).call('POST', '/api/auth/sign-in/email', given)).status).toBe(401)
  })

  test('is not opened by another person of the provider to whom the e-mail was given', async () => {
    provider.people.set('old', { email: 'reused@example.org', email_verified: true })
    provider.people.set('new', { email: 'reused@example.org', email_verified: true })
    expect((await enter('old')).location).toBe('/console')
    expect((await enter('new')).location).toBe('/console/sign-in?error=email_belongs_to_another_identity')
  })
})

describe('an attack on the sign-in', () => {
  beforeAll(() => void provider.people.set('eva', { email: 'eva@example.org', email_verified: true }))

  test.each([
    ['another nonce', { atProvider: (to: URL) => to.searchParams.set('nonce', 'other') }, 'invalid_token'],
    ['another state', { back: (to: URL) => to.searchParams.set('state', 'other') }, 'state_mismatch'],
    ['no state', { back: (to: URL) => to.searchParams.delete('state') }, 'state_not_found'],
    ['another issuer', { back: (to: URL) => to.searchParams.set('iss', 'https://evil.example') }, 'issuer_mismatch'],
    ['another code', { back: (to: URL) => to.searchParams.set('code', 'other') }, 'invalid_code'],
    ['two codes', { back: (to: URL) => to.searchParams.append('code', 'other') }, 'invalid_code'],
    [
      'another code challenge',
      { atProvider: (to: URL) => to.searchParams.set('code_challenge', 'x'.repeat(43)) },
      'invalid_code',
    ],
  ])('with %s is refused', async (_name, steps, error) => {
    const { location, me } = await enter('eva', steps)
    expect(location).toBe(`/console/sign-in?error=${error}`)
    expect(me.error.code).toBe('not_signed_in')
  })

  test('with the callback of another browser is refused, and a code is used once', async () => {
    provider.signedIn = 'eva'
    let callback = ''
    const victim = openBrowser(url)
    await signInAtProvider(openBrowser(url), url, { back: (to) => void (callback = to.pathname + to.search) })
    for (const browser of [victim, openBrowser(url)]) {
      const answer = await browser.call('GET', callback)
      expect(answer.headers.get('location')).toMatch(/error=state_/)
    }
    expect((await victim.call('GET', '/api/me')).status).toBe(401)
  })

  test('with an ID token or a foreign return address in the body has no effect', async () => {
    const body = {
      provider: 'google',
      idToken: { token: 'x.y.z' },
      callbackURL: 'https://evil.example',
      returnTo: '//evil.example/console',
    }
    provider.signedIn = 'eva'
    const started = await openBrowser(url).call('POST', '/api/auth/sign-in/social?x=1', body)
    expect(new URL(started.body.url).origin).toBe(provider.issuer)
    for (const returnTo of [
      '//evil.example/console',
      '/console/..%2f..%2fv1',
      '/console/../v1',
      '/console/a%5cb',
      '/consoles',
      '/s/museum/documents',
      '/s/../v1',
    ])
      expect((await enter('eva', { returnTo })).location).toBe('/console')
    for (const returnTo of ['/console/spaces/a-b_1.c', '/s/museum-guide'])
      expect((await enter('eva', { returnTo })).location).toBe(returnTo)
  })

  test('with a discovery document of another issuer is refused, and the next sign-in reads it again', async () => {
    const port = await freePort()
    const second = await startIdentityProvider({ publicUrl: `http://127.0.0.1:${port}` })
    second.people.set('eva', { email: 'eva@example.org', email_verified: true })
    second.signedIn = 'eva'
    await using fresh = await startPortico(settingsOf(port, [], { issuer: second.issuer }))
    second.changeDiscovery = (document) => ({ ...document, issuer: 'https://evil.example' })
    const refused = await openBrowser(fresh.url).call('POST', '/api/auth/sign-in/social', {})
    expect([refused.status, refused.body.code]).toEqual([503, 'provider_unavailable'])
    // The keys and tokens of another provider under the right issuer.
    second.changeDiscovery = (document) => ({ ...document, jwks_uri: `${provider.issuer}/jwks` })
    const browser = openBrowser(fresh.url)
    expect(await signInAtProvider(browser, fresh.url)).toBe('/console/sign-in?error=invalid_token')
    await second.stop()
  })
})

describe('a provider that is down', () => {
  test('leaves sign-in with a password, and gives a clear error', async () => {
    const port = await freePort()
    const second = await startIdentityProvider({ publicUrl: `http://127.0.0.1:${port}` })
    second.people.set('eva', { email: 'eva@example.org', email_verified: true })
    second.signedIn = 'eva'
    await second.stop()
    await using fresh = await startPortico(settingsOf(port, [], { issuer: second.issuer }))
    const failed = await openBrowser(fresh.url).call('POST', '/api/auth/sign-in/social', {})
    expect([failed.status, failed.body.code]).toEqual([503, 'provider_unavailable'])
    await createPerson(fresh, { email: 'pat@example.org' })
    await second.start()
    const location = await signInAtProvider(openBrowser(fresh.url), fresh.url, { back: () => second.stop() })
    expect(location).toBe('/console/sign-in?error=provider_unavailable')
    await second.start()
    expect(await signInAtProvider(openBrowser(fresh.url), fresh.url)).toBe('/console')
    await second.stop()
  })
})

describe('a session of single sign-on', () => {
  test('ends after the configured hours, whatever visits it has, and no token is stored', async () => {
    const { browser } = await enter('ann')
    expectStatus(await browser.call('GET', '/api/auth/get-session'), 200)
    const [session] = (await browser.call('GET', '/api/me/sessions')).body.items
    const hours = (Date.parse(session.expiresAt) - Date.now()) / 3600_000
    expect(hours).toBeGreaterThan(11.9)
    expect(hours).toBeLessThan(12.01)
    const stored = await portico.service.control.query<Record<string, unknown>>(
      `SELECT access_token, refresh_token, id_token FROM people_accounts WHERE provider_id = 'sso'`,
    )
    expect(stored.length).toBeGreaterThan(0)
    for (const row of stored) expect(Object.values(row)).toEqual([null, null, null])
  })
})

describe('with sign-in by password turned off', () => {
  test('only single sign-on and the operator token remain', async () => {
    const port = await freePort()
    const given = settingsOf(port, [])
    const accounts = { ...given.settings.accounts, passwordSignIn: false }
    await using fresh = await startPortico({ ...given, settings: { ...given.settings, accounts } })
    const visitor = openBrowser(fresh.url)
    expect((await visitor.call('GET', '/api/setup')).body).toMatchObject({ required: false, passwordSignIn: false })
    const person = { email: 'a@example.org', name: 'A', password: testPassword }
    expect((await fresh.operator('POST', '/api/setup', person)).status).toBe(409)
    const { email, password } = person
    expect((await visitor.call('POST', '/api/auth/sign-in/email', { email, password })).status).toBe(409)
    const { token } = (await fresh.operator('POST', '/api/operator-invitations', { email })).body
    const { name } = person
    expect((await visitor.call('POST', `/api/invitations/${token}/accept`, { name, password })).status).toBe(409)
  })
})
