import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CompactSign, exportJWK, generateKeyPair } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabasePlace, testServerUrl } from '../harness/database.ts'
import {
  followProvider,
  signInAtProvider,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../harness/identity-provider.ts'
import { type Browser, createPerson, openBrowser } from '../harness/people.ts'
import {
  type ApiAnswer,
  expectStatus,
  freePort,
  startPortico,
  startSeparatePortico,
  type TestPortico,
} from '../harness/portico.ts'

/** Single sign-on that operators set up in the console: settings, test sign-ins and the switch. */

const path = '/api/single-sign-on'
const page = '/console/operator/single-sign-on'

let provider: TestIdentityProvider
let portico: TestPortico
let url: string
let ops: Browser
let deputy: Browser

beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  provider = await startIdentityProvider({ publicUrl: url })
  provider.people.set('new', { email: 'new@example.org', email_verified: true, name: 'New', groups: ['a', 'b'] })
  provider.people.set('ops', { email: 'ops@example.org', email_verified: true, name: 'Ops' })
  provider.people.set('unverified', { email: 'u@example.org', email_verified: false })
  provider.signedIn = 'new'
  portico = await startPortico(placedAt(port))
  ops = await createPerson(portico, { email: 'ops@example.org' })
  deputy = await createPerson(portico, { email: 'deputy@example.org' })
})
afterAll(async () => {
  await portico?.stop()
  await provider?.stop()
})
afterEach(async () => {
  provider.changeDiscovery = undefined
  provider.signedIn = 'new'
  await ops.call('DELETE', `${path}/active`)
})

const placedAt = (port: number) => ({
  settings: { server: { port, publicUrl: `http://127.0.0.1:${port}` } },
  environment: { PORT: String(port) },
})

const settings = () => ({
  name: 'Example',
  issuer: provider.issuer,
  clientId: provider.clientId,
  clientSecret: provider.clientSecret,
})

async function save(fields: object = {}, by = ops) {
  return expectStatus(await by.call('PUT', path, { ...settings(), ...fields }), 200)
}

/** Follows a test sign-in from its start to the callback, which it does not send. */
async function begin(by = ops): Promise<URL> {
  const { url: start } = expectStatus(await by.call('POST', `${path}/test`), 200)
  return followProvider(new URL(start), url)
}

async function end(back: URL, by = ops) {
  const ended = await by.call('GET', back.pathname + back.search)
  expect([ended.status, ended.headers.get('location')]).toEqual([302, page])
  return view(by)
}

const view = async (by = ops) => expectStatus(await by.call('GET', path), 200)
const testAs = async (sub: string, by = ops) => {
  provider.signedIn = sub
  return end(await begin(by), by)
}
const switchOn = (by = ops, version?: string) => by.call('PUT', `${path}/active`, undefined, ifMatch(version))
const ifMatch = (version?: string): Record<string, string> =>
  version === undefined ? {} : { 'if-match': `"${version}"` }
const conflict = ({ status, body }: ApiAnswer) => [status, body.error.code, body.error.param]

describe('a test sign-in', () => {
  test('shows what the provider states and how the person would be admitted, and signs nobody in', async () => {
    await save()
    const before = (await portico.operator('GET', '/api/people')).body.total
    const { test: result, canSwitchOn, source } = await testAs('new')
    expect(result).toMatchObject({
      state: 'passed',
      code: null,
      rule: 'new',
      person: { issuer: provider.issuer, email: 'new@example.org', emailVerified: true, name: 'New', groups: 0 },
    })
    expect({ canSwitchOn, source }).toEqual({ canSwitchOn: true, source: null })
    expect((await portico.operator('GET', '/api/people')).body.total).toBe(before)
    expect((await ops.call('GET', '/api/me')).body.person.email).toBe('ops@example.org')
    expect((await openBrowser(url).call('GET', '/api/setup')).body.singleSignOn).toBeNull()
    expect((await openBrowser(url).call('POST', '/api/auth/sign-in/social', {})).status).toBe(404)
  })

  test('names the rule that admits or refuses the person', async () => {
    await save()
    expect((await testAs('ops')).test).toMatchObject({ state: 'passed', rule: 'email' })
    expect((await testAs('unverified')).test).toMatchObject({
      state: 'failed',
      code: 'email_not_verified',
      rule: null,
      person: { email: 'u@example.org', emailVerified: false },
    })
    await save({ allowedEmailDomains: ['Other.example'] })
    expect((await testAs('new')).test).toMatchObject({ state: 'failed', code: 'email_domain_not_allowed' })
    await save({ createAccounts: false })
    expect((await testAs('new')).test).toMatchObject({ state: 'failed', code: 'no_account' })
    expectStatus(await portico.operator('POST', '/api/operator-invitations', { email: 'new@example.org' }), 201)
    expect((await testAs('new')).test).toMatchObject({ state: 'passed', rule: 'invitation' })
  })

  test('leaves the password and the sessions of the account with the same e-mail', async () => {
    await save()
    await testAs('ops')
    const { person } = (await ops.call('GET', '/api/me')).body
    expect(person).toMatchObject({ hasPassword: true, usesSingleSignOn: false })
  })

  test('fails for a wrong secret, a wrong issuer and a provider that is down', async () => {
    await save({ clientSecret: 'a wrong secret of tests' })
    const refused = await testAs('new')
    expect(refused.test).toMatchObject({ state: 'failed', code: 'invalid_client', person: null })
    expect(refused.canSwitchOn).toBe(false)
    expect(JSON.stringify(refused)).not.toContain('a wrong secret of tests')
    await save({ issuer: `${provider.issuer}/` })
    const other = expectStatus(await ops.call('POST', `${path}/test`), 200)
    expect(other).toMatchObject({ url: null, test: { state: 'failed', code: 'provider_unavailable' } })
    expect(other.test.detail).toContain(`states the issuer ${provider.issuer}`)
    await save({ issuer: `http://127.0.0.1:${await freePort()}` })
    const down = expectStatus(await ops.call('POST', `${path}/test`), 200)
    expect(down).toMatchObject({ url: null, canSwitchOn: false, test: { code: 'provider_unavailable' } })
  })

  test('fails for an ID token of another audience or with another nonce', async () => {
    await save()
    for (const claims of [{ aud: 'another client' }, { nonce: 'another nonce' }]) {
      const forged = await startForger(claims)
      provider.changeDiscovery = (document) => ({ ...document, ...forged.endpoints })
      const { url: start } = expectStatus(await ops.call('POST', `${path}/test`), 200)
      forged.nonce = new URL(start).searchParams.get('nonce')!
      const back = await followProvider(new URL(start), url)
      expect((await end(back)).test).toMatchObject({ state: 'failed', code: 'invalid_token', person: null })
    }
    const genuine = await startForger({})
    provider.changeDiscovery = (document) => ({ ...document, ...genuine.endpoints })
    const { url: start } = expectStatus(await ops.call('POST', `${path}/test`), 200)
    genuine.nonce = new URL(start).searchParams.get('nonce')!
    expect((await end(await followProvider(new URL(start), url))).test).toMatchObject({ state: 'passed' })
  })

  test('fails where the callback states another issuer, a refusal or no code', async () => {
    await save()
    for (const [change, code] of [
      [(to: URL) => to.searchParams.set('iss', 'https://evil.example'), 'issuer_mismatch'],
      [(to: URL) => to.searchParams.set('error', 'access_denied'), 'access_denied'],
      [(to: URL) => to.searchParams.set('error', 'Not a code'), 'access_denied'],
      [(to: URL) => to.searchParams.delete('code'), 'invalid_code'],
      [(to: URL) => to.searchParams.set('code', 'other'), 'invalid_code'],
    ] as const) {
      const back = await begin()
      change(back)
      expect((await end(back)).test).toMatchObject({ state: 'failed', code })
    }
  })

  test('counts once, and only in the session that has begun it', async () => {
    await save()
    const back = await begin()
    for (const stranger of [openBrowser(url), deputy]) {
      const answer = await stranger.call('GET', back.pathname + back.search)
      expect([answer.status, answer.headers.get('location')]).toEqual([302, page])
    }
    expect((await view()).test).toMatchObject({ state: 'waiting' })
    expect((await view(deputy)).test).toBeNull()
    expect((await end(back)).test).toMatchObject({ state: 'passed' })
    const { startedAt } = (await view()).test
    const forged = new URL(back)
    forged.searchParams.set('error', 'access_denied')
    expect((await end(forged)).test).toMatchObject({ state: 'passed', startedAt })
  })

  test('does not count for settings that were changed meanwhile', async () => {
    await save()
    const back = await begin()
    await save({ name: 'Renamed' }, deputy)
    const after = await end(back)
    expect([after.test, after.canSwitchOn]).toEqual([null, false])
    expect(conflict(await switchOn())).toEqual([409, 'conflict', null])
  })

  test('needs a signed-in person, and stored settings', async () => {
    expect((await portico.operator('POST', `${path}/test`)).status).toBe(409)
    const member = await createPerson(portico, {
      email: 'm@example.org',
      organisationId: (await portico.createOrganisation()).id,
    })
    for (const [method, at] of [
      ['GET', path],
      ['POST', `${path}/test`],
      ['PUT', `${path}/active`],
    ] as const)
      expect((await member.call(method, at)).status).toBe(403)
  })
})

describe('the switch', () => {
  test('puts exactly the tested settings in force, for the person who has tested them', async () => {
    await save()
    expect((await switchOn()).status).toBe(409)
    await testAs('new')
    expect((await switchOn(deputy)).status).toBe(409)
    const on = expectStatus(await switchOn(), 200)
    expect(on).toMatchObject({ source: 'console', isDraftInForce: true, inForce: { issuer: provider.issuer } })
    expect((await openBrowser(url).call('GET', '/api/setup')).body).toMatchObject({
      passwordSignIn: true,
      singleSignOn: { name: 'Example' },
    })
    const browser = openBrowser(url)
    expect(await signInAtProvider(browser, url, { returnTo: '/console/account' })).toBe('/console/account')
    expect((await browser.call('GET', '/api/me')).body.person).toMatchObject({ email: 'new@example.org' })
    expect((await testAs('new')).test).toMatchObject({ state: 'passed', rule: 'identity' })
  })

  test('leaves the settings in force while others are edited', async () => {
    await save()
    await testAs('new')
    expectStatus(await switchOn(), 200)
    const edited = await save({ name: 'Next', clientSecret: 'not the secret' })
    expect(edited).toMatchObject({ isDraftInForce: false, inForce: { name: 'Example' }, draft: { name: 'Next' } })
    expect(await signInAtProvider(openBrowser(url), url)).toBe('/console')
    expect((await switchOn()).status).toBe(409)
  })

  test('ends single sign-on, and keeps the settings and the sessions', async () => {
    await save()
    await testAs('new')
    await switchOn()
    const browser = openBrowser(url)
    await signInAtProvider(browser, url)
    const off = expectStatus(await ops.call('DELETE', `${path}/active`), 200)
    expect(off).toMatchObject({ source: null, draft: { issuer: provider.issuer } })
    expect((await openBrowser(url).call('POST', '/api/auth/sign-in/social', {})).status).toBe(404)
    expect((await browser.call('GET', '/api/me')).status).toBe(200)
  })

  test('is not turned off by a person when no operator has a password', async () => {
    await save()
    await testAs('new')
    await switchOn()
    const control = portico.service.control
    const without = `UPDATE people_accounts SET provider_id = $2 WHERE provider_id = $1`
    await control.execute(without, ['credential', 'hidden by a test'])
    onTestFinished(() => control.execute(without, ['hidden by a test', 'credential']).then(() => undefined))
    expect(conflict(await ops.call('DELETE', `${path}/active`))).toEqual([409, 'conflict', null])
    expectStatus(await portico.operator('DELETE', `${path}/active`), 200)
  })

  test('is given to one of two operators at once', async () => {
    await save()
    await Promise.all([testAs('new'), testAs('new', deputy)])
    const { version } = await view()
    const answers = await Promise.all([switchOn(ops, version), switchOn(deputy, version)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect((await view()).source).toBe('console')
  })
})

describe('the settings', () => {
  test('ask for the secret with another issuer, and never show it', async () => {
    const saved = await save()
    const { clientSecret: _secret, ...kept } = settings()
    const renamed = expectStatus(await ops.call('PUT', path, { ...kept, name: 'Renamed' }), 200)
    expect(renamed.version).not.toBe(saved.version)
    expect((await testAs('new')).test).toMatchObject({ state: 'passed' })
    const moved = await ops.call('PUT', path, { ...kept, issuer: 'https://evil.example' })
    expect([moved.status, moved.body.error.param]).toEqual([400, 'clientSecret'])
    const [stored] = await portico.service.control.query('SELECT * FROM single_sign_on')
    for (const shown of [stored, renamed, (await portico.operator('GET', '/api/admin-log?limit=100')).body])
      expect(JSON.stringify(shown)).not.toContain('special characters')
  })

  test.each([
    ['http://login.example', 'issuer'],
    ['https://169.254.169.254/', 'issuer'],
    ['https://metadata.google.internal', 'issuer'],
    ['https://user:password@login.example', 'issuer'],
    ['https://login.example/?tenant=1', 'issuer'],
    ['file:///etc/passwd', 'issuer'],
  ])('refuse the issuer %s', async (issuer, param) => {
    const refused = await ops.call('PUT', path, { ...settings(), issuer })
    expect([refused.status, refused.body.error.param]).toEqual([400, param])
  })

  test('of one operator are not overwritten by another', async () => {
    const { version } = await save()
    const change = (name: string, by: Browser) => by.call('PUT', path, { ...settings(), name }, ifMatch(version))
    const answers = await Promise.all([change('One', ops), change('Two', deputy)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(answers.find(({ status }) => status === 409)!.body.error.param).toBe('if-match')
  })

  test('that are the same again keep the test', async () => {
    await save()
    const { version } = await testAs('new')
    const { clientSecret: _secret, ...kept } = settings()
    expectStatus(await ops.call('PUT', path, kept), 200)
    expect(await view()).toMatchObject({ version, canSwitchOn: true })
  })

  test('and their tests are in the admin log with the person', async () => {
    await save()
    await save({ name: 'Logged' })
    await testAs('new')
    await switchOn()
    await ops.call('DELETE', `${path}/active`)
    const query = 'subjectType=single_sign_on&limit=4'
    const { items } = (await portico.operator('GET', `/api/admin-log?${query}`)).body
    expect(items.map(({ actor, action, after }: Record<string, unknown>) => [actor, action, after])).toEqual([
      ['ops@example.org', 'single_sign_on.disabled', null],
      ['ops@example.org', 'single_sign_on.enabled', expect.objectContaining({ name: 'Logged' })],
      ['ops@example.org', 'single_sign_on.tested', { issuer: provider.issuer, result: 'passed' }],
      ['ops@example.org', 'single_sign_on.updated', { name: 'Logged', secretChanged: true }],
    ])
  })
})

describe('the configuration', () => {
  test('wins over what is stored, and is not changed by the API', async () => {
    const port = await freePort()
    const { issuer, clientId, clientSecret } = provider
    const given = placedAt(port)
    await using fresh = await startPortico({
      settings: { ...given.settings, accounts: { singleSignOn: { name: 'From the file', issuer, clientId } } },
      environment: { ...given.environment, PORTICO_SSO_CLIENT_SECRET: clientSecret },
    })
    const body = expectStatus(await fresh.operator('GET', path), 200)
    expect(body).toMatchObject({ source: 'configuration', inForce: { name: 'From the file' }, canSwitchOn: false })
    for (const [method, at] of [
      ['PUT', path],
      ['PUT', `${path}/active`],
      ['DELETE', `${path}/active`],
    ] as const)
      expect((await fresh.operator(method, at, at === path ? settings() : undefined)).status).toBe(409)
  })

  test('without a public address leaves no test sign-in', async () => {
    await using fresh = await startPortico()
    const browser = await createPerson(fresh, { email: 'ops@example.org' })
    expectStatus(await browser.call('PUT', path, settings()), 200)
    expect((await browser.call('GET', path)).body.redirectUrl).toBeNull()
    expect((await browser.call('POST', `${path}/test`)).status).toBe(409)
  })
})

test('a killed process loses neither settings nor a test that has begun', async () => {
  const place = await freshDatabasePlace()
  onTestFinished(() => place.remove())
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  const other = await startIdentityProvider({ publicUrl })
  onTestFinished(() => other.stop())
  other.people.set('new', { email: 'new@example.org', email_verified: true })
  other.signedIn = 'new'
  const first = await startSeparatePortico({ place, ...placedAt(port) })
  const browser = await createPerson(first, { email: 'ops@example.org' })
  expectStatus(await browser.call('PUT', path, { ...settings(), issuer: other.issuer }), 200)
  const { url: start } = expectStatus(await browser.call('POST', `${path}/test`), 200)
  const back = await followProvider(new URL(start), publicUrl)
  await first.kill('SIGKILL')
  await using second = await startPortico({ place, ...placedAt(port) })
  await browser.call('GET', back.pathname + back.search)
  expect((await browser.call('GET', path)).body).toMatchObject({ test: { state: 'passed' }, source: null })
  expectStatus(await browser.call('PUT', `${path}/active`), 200)
  expect(await signInAtProvider(openBrowser(second.url), second.url)).toBe('/console')
})

test.skipIf(testServerUrl() === undefined)('another instance takes the settings with the next request', async () => {
  const port = await freePort()
  const { place } = portico
  const { settings: shared } = placedAt(Number(new URL(url).port))
  await using other = await startPortico({ place, settings: shared, environment: { PORT: String(port) } })
  const atOther = () => openBrowser(other.url).call('POST', '/api/auth/sign-in/social', {}, { origin: url })
  await save()
  await testAs('new')
  expect((await atOther()).status).toBe(404)
  expectStatus(await switchOn(), 200)
  expect(expectStatus(await atOther(), 200).url).toContain(provider.issuer)
  await ops.call('DELETE', `${path}/active`)
  expect((await atOther()).status).toBe(404)
})

/** Endpoints that issue an ID token of the provider's issuer with these claims. */
async function startForger(claims: object) {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const keys = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'forged' }] }
  const made = { nonce: '', endpoints: {} as Record<string, string> }
  const issue = async () => {
    const at = Math.floor(Date.now() / 1000)
    const { issuer: iss, clientId: aud } = provider
    const person = { sub: 'forged', email: 'forged@example.org', email_verified: true, groups: [] }
    const payload = { iss, aud, iat: at, exp: at + 60, nonce: made.nonce, ...person, ...claims }
    const token = new CompactSign(Buffer.from(JSON.stringify(payload)))
    return token.setProtectedHeader({ alg: 'ES256', kid: 'forged' }).sign(privateKey)
  }
  const server = createServer((request, response) => {
    request.resume()
    response.setHeader('content-type', 'application/json')
    if (request.url === '/keys') response.end(JSON.stringify(keys))
    else void issue().then((id_token) => response.end(JSON.stringify({ id_token, access_token: 'a' })))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  made.endpoints = { token_endpoint: `${origin}/token`, jwks_uri: `${origin}/keys` }
  return made
}
