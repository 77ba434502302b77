import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPerson, openBrowser, signIn, testPassword } from '../harness/people.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'

let portico: TestPortico
let organisation: TestOrganisation
const logged: string[] = []
const log = {
  debug: note,
  info: note,
  warn: note,
  error: note,
  child: () => log,
}
function note(fields: unknown, message: string) {
  logged.push(JSON.stringify(fields) + message)
}

beforeAll(async () => {
  portico = await startPortico({ log })
  organisation = await portico.createOrganisation()
})
afterAll(() => portico.stop())

const first = { email: 'First@example.org', name: 'First Operator', password: testPassword }

describe('set-up', () => {
  test('creates the first account once, with the operator token only', async () => {
    const visitor = openBrowser(portico.url)
    expect((await visitor.call('GET', '/api/setup')).body).toEqual({
      required: true,
      passwordSignIn: true,
      singleSignOn: null,
    })
    expect((await visitor.call('POST', '/api/setup', first)).status).toBe(401)
    expect((await portico.operator('POST', '/api/setup', { ...first, password: 'short' })).status).toBe(400)
    const common = await portico.operator('POST', '/api/setup', { ...first, password: 'Password1234!' })
    expect(expectStatus(common, 400).error.param).toBe('password')
    const both = await Promise.all([
      portico.operator('POST', '/api/setup', first),
      portico.operator('POST', '/api/setup', { ...first, email: 'second@example.org' }),
    ])
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409])
    const made = both.find(({ status }) => status === 201)!.body
    expect(made).toMatchObject({ isOperator: true, twoFactorEnabled: false })
    expect((await visitor.call('GET', '/api/setup')).body).toMatchObject({ required: false })
    expect((await portico.operator('POST', '/api/setup', first)).status).toBe(409)
    const members = (await portico.operator('GET', `/api/organisations/${organisation.id}/members`)).body
    expect(members.items).toMatchObject([{ email: made.email, role: 'administrator' }])
  })

  test('nobody can sign up without an invitation', async () => {
    const visitor = openBrowser(portico.url)
    const given = { email: 'stranger@example.org', name: 'Stranger', password: testPassword }
    expect((await visitor.call('POST', '/api/auth/sign-up/email', given)).status).toBe(404)
    expect((await visitor.call('GET', '/api/auth/list-sessions')).status).toBe(404)
  })
})

describe('two invitations of one new e-mail', () => {
  test('accepted at the same moment create one account', async () => {
    const email = 'twice@example.org'
    const links = await Promise.all([1, 2].map(() => portico.operator('POST', '/api/operator-invitations', { email })))
    const answers = await Promise.all(
      links.map(({ body }) =>
        openBrowser(portico.url).call('POST', `/api/invitations/${body.token}/accept`, {
          name: 'Twice',
          password: testPassword,
        }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })
})

test('an invitation is not accepted with a common password or from another site, and stays open', async () => {
  const { body } = await portico.operator('POST', '/api/operator-invitations', { email: 'common@example.org' })
  const accept = (password: string, headers = {}) =>
    openBrowser(portico.url).call(
      'POST',
      `/api/invitations/${body.token}/accept`,
      { name: 'Common', password },
      headers,
    )
  const foreign = await accept(testPassword, { origin: portico.url.replace('//', '//user@') })
  expect([foreign.status, foreign.body.error.code]).toEqual([403, 'cross_site_request'])
  expect(expectStatus(await accept('123456789012'), 400).error.param).toBe('password')
  expectStatus(await accept(testPassword), 200)
})

describe('signing in', () => {
  test('sets a cookie that scripts and other sites cannot use, and opens /api/me', async () => {
    await createPerson(portico, { email: 'ann@example.org', organisationId: organisation.id, role: 'administrator' })
    const browser = openBrowser(portico.url)
    const answer = await browser.call('POST', '/api/auth/sign-in/email', {
      email: 'Ann@Example.org',
      password: testPassword,
    })
    expect(answer.status).toBe(200)
    expect(answer.body.token).toBeUndefined()
    const [cookie] = answer.headers.getSetCookie()
    expect(cookie).toMatch(/^portico\.session_token=[^;]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/i)
    const me = expectStatus(await browser.call('GET', '/api/me'), 200)
    expect(me).toMatchObject({
      person: { email: 'ann@example.org', name: 'ann', isOperator: false },
      isOperator: false,
      organisations: [{ id: organisation.id, name: 'Test organisation', role: 'administrator' }],
    })
    const session = expectStatus(await browser.call('GET', '/api/auth/get-session'), 200)
    expect(session.session.id).toBe(me.sessionId)
    expect(session.session.token).toBeUndefined()
  })

  test('has a Secure cookie when the public address is https', async () => {
    await using secure = await startPortico({ settings: { server: { publicUrl: 'https://portico.example' } } })
    await secure.operator('POST', '/api/setup', first)
    const browser = openBrowser(secure.url)
    const { email, password } = first
    const given = { email, password }
    const accepted = await browser.call('POST', '/api/auth/sign-in/email', given, { origin: 'https://portico.example' })
    expect(accepted.headers.getSetCookie()[0]).toMatch(/^__Secure-portico\.session_token=.*; Secure/)
    expect((await browser.call('GET', '/api/me')).status).toBe(200)
  })

  test('gives the same answer for a wrong password and an unknown email', async () => {
    const browser = openBrowser(portico.url)
    const wrong = { email: 'ann@example.org', password: 'not this password' }
    const unknown = { email: 'nobody@example.org', password: 'not this password' }
    const answers = [
      await browser.call('POST', '/api/auth/sign-in/email', wrong),
      await browser.call('POST', '/api/auth/sign-in/email', unknown),
    ]
    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      Array.from({ length: 2 }, () => [401, expect.objectContaining({ code: 'INVALID_EMAIL_OR_PASSWORD' })]),
    )
  })

  test('is locked after ten wrong passwords, for known and unknown emails, also when they arrive together', async () => {
    await createPerson(portico, { email: 'bob@example.org', organisationId: organisation.id })
    for (const email of ['bob@example.org', 'unknown@example.org']) {
      const guess = () =>
        openBrowser(portico.url).call('POST', '/api/auth/sign-in/email', { email, password: 'wrong wrong' })
      const statuses = (await Promise.all(Array.from({ length: 15 }, guess))).map(({ status }) => status)
      expect(statuses.toSorted()).toEqual([...Array(10).fill(401), ...Array(5).fill(429)])
    }
    const right = await openBrowser(portico.url).call('POST', '/api/auth/sign-in/email', {
      email: 'bob@example.org',
      password: testPassword,
    })
    expect([right.status, right.body.error.code]).toEqual([429, 'rate_limit_exceeded'])
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(800)
  })

  test('is refused from another site, and without an origin', async () => {
    const { call } = openBrowser(portico.url)
    const given = { email: 'ann@example.org', password: testPassword }
    const foreign = await call('POST', '/api/auth/sign-in/email', given, { origin: 'https://evil.example' })
    expect([foreign.status, foreign.body.error.code]).toEqual([403, 'cross_site_request'])
    const { host } = new URL(portico.url)
    for (const origin of [
      `http://user:password@${host}`,
      `https://${host}`,
      `ftp://${host}`,
      `http://127.0.0.1:1`,
      `http://${host}/`,
    ]) {
      const odd = await call('POST', '/api/auth/sign-in/email', given, { origin })
      expect([odd.status, odd.body.error.code], origin).toEqual([403, 'cross_site_request'])
    }
    const none = await fetch(`${portico.url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(given),
    })
    expect(none.status).toBe(403)
  })
})

describe('behind a proxy that ends TLS', () => {
  test('sign-in and sign-out work without a public address in the settings', async () => {
    const browser = openBrowser(portico.url)
    const headers = { origin: portico.url.replace('http:', 'https:'), 'sec-fetch-site': 'same-origin' }
    const given = { email: 'ann@example.org', password: testPassword }
    expectStatus(await browser.call('POST', '/api/auth/sign-in/email', given, headers), 200)
    expectStatus(await browser.call('POST', '/api/auth/sign-out', undefined, headers), 200)
    expect((await browser.call('GET', '/api/me')).status).toBe(401)
  })
})

describe('a session', () => {
  test('is not accepted below /v1', async () => {
    const ann = await signIn(portico.url, 'ann@example.org')
    expect((await ann.call('GET', '/v1/gateway/models')).status).toBe(401)
    expect((await ann.call('GET', '/')).status).toBe(401)
  })

  test('is listed, and ends at once when it is revoked or signed out', async () => {
    const here = await signIn(portico.url, 'ann@example.org')
    const there = await signIn(portico.url, 'ann@example.org')
    const { items } = expectStatus(await here.call('GET', '/api/me/sessions'), 200)
    expect(items.filter((item: { current: boolean }) => item.current)).toHaveLength(1)
    const { sessionId } = (await there.call('GET', '/api/me')).body
    expect((await here.call('DELETE', `/api/me/sessions/${sessionId}`)).status).toBe(204)
    const ended = await there.call('GET', '/api/me')
    expect([ended.status, ended.body.error.code]).toEqual([401, 'not_signed_in'])
    const kept = here.cookie()
    expectStatus(await here.call('POST', '/api/auth/sign-out'), 200)
    expect((await openBrowser(portico.url).call('GET', '/api/me', undefined, { cookie: kept })).status).toBe(401)
  })

  test('of another person cannot be ended', async () => {
    const ann = await signIn(portico.url, 'ann@example.org')
    const eve = await createPerson(portico, { email: 'eve@example.org', organisationId: organisation.id })
    const { sessionId } = (await ann.call('GET', '/api/me')).body
    expect((await eve.call('DELETE', `/api/me/sessions/${sessionId}`)).status).toBe(404)
    expect((await ann.call('GET', '/api/me')).status).toBe(200)
  })

  test('makes no change when another site sends it', async () => {
    const ann = await signIn(portico.url, 'ann@example.org')
    const path = `/api/organisations/${organisation.id}/opt-in`
    const attempts: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: new URL(portico.url).origin, 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
      { origin: portico.url.replace('//', '//user@') },
      { origin: portico.url.replace('http:', 'https:') },
    ]
    for (const headers of attempts) {
      const answer = await ann.call('PUT', path, { optIn: true }, headers)
      expect([answer.status, answer.body.error.code]).toEqual([403, 'cross_site_request'])
    }
    expect((await ann.call('PUT', path, { optIn: true })).status).toBe(200)
  })

  test('ends on all other browsers when the password changes', async () => {
    const here = await createPerson(portico, { email: 'carl@example.org', organisationId: organisation.id })
    const there = await signIn(portico.url, 'carl@example.org')
    const given = { currentPassword: testPassword, newPassword: 'another long password' }
    expect((await here.call('POST', '/api/auth/change-password', { ...given, newPassword: 'short' })).status).toBe(400)
    const common = await here.call('POST', '/api/auth/change-password', { ...given, newPassword: 'qwertyuiop123' })
    expect(expectStatus(common, 400).error.param).toBe('newPassword')
    expectStatus(await here.call('POST', '/api/auth/change-password', given), 200)
    expect((await there.call('GET', '/api/me')).status).toBe(401)
    expect((await here.call('GET', '/api/me')).status).toBe(200)
    await signIn(portico.url, 'carl@example.org', 'another long password')
    const { items } = (await portico.operator('GET', '/api/admin-log?limit=20')).body
    expect(items.map(({ action, actor }: { action: string; actor: string }) => [action, actor])).toContainEqual([
      'person.password_changed',
      'carl@example.org',
    ])
  })
})

describe('secrets', () => {
  test('are neither stored in clear nor logged', async () => {
    const ann = await signIn(portico.url, 'ann@example.org')
    const token = decodeURIComponent(ann.cookie()).split('=')[1]!.split('.')[0]!
    expect(token.length).toBeGreaterThan(20)
    const invited = await portico.operator('POST', '/api/operator-invitations', { email: 'dora@example.org' })
    const { control } = portico.service
    let stored = ''
    for (const table of ['people', 'people_accounts', 'people_sessions', 'people_verifications', 'people_invitations'])
      stored += JSON.stringify(await control.query(`SELECT t::text AS row FROM ${table} t`))
    expect(stored).toContain('ann@example.org')
    for (const secret of [token, testPassword, invited.body.token]) {
      expect(stored).not.toContain(secret)
      expect(logged.join('\n')).not.toContain(secret)
    }
  })
})
