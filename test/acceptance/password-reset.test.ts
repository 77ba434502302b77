import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock } from '../harness/fake-clock.ts'
import { createPerson, openBrowser, signIn, testPassword } from '../harness/people.ts'
import { expectStatus, startPortico, type TestPortico } from '../harness/portico.ts'
import { codeOf } from '../harness/second-factor.ts'

let portico: TestPortico
beforeAll(async () => {
  portico = await startPortico()
})
afterAll(() => portico.stop())

async function personOf(email: string) {
  const browser = await createPerson(portico, { email })
  return { browser, id: (await browser.call('GET', '/api/me')).body.person.id as string }
}

const newPassword = 'a new and long password'
const linkFor = async (id: string, body = {}) =>
  expectStatus(await portico.operator('POST', `/api/people/${id}/password-reset`, body), 201)

describe('a link for a new password', () => {
  test('sets the password once, ends all sessions and the lock after wrong passwords', async () => {
    const { browser, id } = await personOf('lost@example.org')
    for (let guess = 0; guess < 11; guess++)
      await openBrowser(portico.url).call('POST', '/api/auth/sign-in/email', {
        email: 'lost@example.org',
        password: 'wrong wrong',
      })
    const { token, url, expiresAt } = await linkFor(id)
    expect(url).toBe(`/console/password-resets/${token}`)
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(23.9 * 3600_000)
    const visitor = openBrowser(portico.url)
    const path = `/api/password-resets/${token}`
    expect((await visitor.call('GET', path)).body).toMatchObject({ email: 'lost@example.org', name: 'lost' })
    expect((await visitor.call('POST', path, { password: 'short' })).status).toBe(400)
    expect((await visitor.call('POST', path, { password: 'passwordpassword' })).status).toBe(400)
    const foreign = await visitor.call('POST', path, { password: newPassword }, { origin: 'https://evil.example' })
    expect([foreign.status, foreign.body.error.code]).toEqual([403, 'cross_site_request'])
    expect((await visitor.call('POST', path, { password: newPassword })).status).toBe(204)
    expect((await visitor.call('POST', path, { password: testPassword })).status).toBe(404)
    expect((await visitor.call('GET', path)).status).toBe(404)
    expect((await browser.call('GET', '/api/me')).status).toBe(401)
    await signIn(portico.url, 'lost@example.org', newPassword)
    const { items } = (await portico.operator('GET', `/api/admin-log?subjectId=${id}`)).body
    const actions = items.map(({ action, actor }: { action: string; actor: string }) => [action, actor])
    expect(actions).toContainEqual(['person.password_reset', 'lost@example.org'])
    expect(actions).toContainEqual(['person.password_reset_created', 'operator'])
    expect(JSON.stringify(items)).not.toContain(token)
  })

  test('removes the second factor only if the operator wants it', async () => {
    const { browser, id } = await personOf('factor@example.org')
    const prepared = await browser.call('POST', '/api/auth/two-factor/enable', { password: testPassword })
    const secret = new URL(prepared.body.totpURI).searchParams.get('secret')!
    expectStatus(await browser.call('POST', '/api/auth/two-factor/verify-totp', { code: codeOf(secret) }), 200)
    for (const removeSecondFactor of [false, true]) {
      const { token } = await linkFor(id, { removeSecondFactor })
      const visitor = openBrowser(portico.url)
      await visitor.call('POST', `/api/password-resets/${token}`, { password: newPassword })
      const given = { email: 'factor@example.org', password: newPassword }
      const answer = expectStatus(await visitor.call('POST', '/api/auth/sign-in/email', given), 200)
      expect(answer.twoFactorRedirect === true).toBe(!removeSecondFactor)
    }
  })

  test('replaces an earlier one and is valid for a day', async () => {
    const clock = createFakeClock()
    await using other = await startPortico({ clock })
    await createPerson(other, { email: 'day@example.org' })
    const [{ id }] = (await other.operator('GET', '/api/people')).body.items
    const make = async () => (await other.operator('POST', `/api/people/${id}/password-reset`, {})).body.token
    const [first, second] = [await make(), await make()]
    const visitor = openBrowser(other.url)
    expect((await visitor.call('GET', `/api/password-resets/${first}`)).status).toBe(404)
    expect((await visitor.call('GET', `/api/password-resets/${second}`)).status).toBe(200)
    clock.jump(24 * 3600_000)
    expect((await visitor.call('GET', `/api/password-resets/${second}`)).status).toBe(404)
  })

  test('is made only for people who exist', async () => {
    const missing = '00000000-0000-4000-8000-000000000000'
    expect((await portico.operator('POST', `/api/people/${missing}/password-reset`, {})).status).toBe(404)
    expect((await portico.operator('POST', `/api/people/none/password-reset`, {})).status).toBe(404)
  })
})

describe('behind a proxy', () => {
  test('the limit counts clients only if the proxy is trusted', async () => {
    await using trusting = await startPortico({ settings: { server: { trustProxy: ['127.0.0.0/8'] } } })
    for (const [{ url }, stored] of [
      [trusting, '203.0.113.7'],
      [portico, '127.0.0.1'],
    ] as const) {
      const target = url === portico.url ? portico : trusting
      const email = `proxy-${stored}@example.org`
      await createPerson(target, { email })
      const browser = openBrowser(url)
      const given = { email, password: testPassword }
      const headers = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' }
      expectStatus(await browser.call('POST', '/api/auth/sign-in/email', given, headers), 200)
      const { items } = (await browser.call('GET', '/api/me/sessions')).body
      const [session] = items.filter((item: { current: boolean }) => item.current)
      expect(session.ipAddress).toBe(stored)
    }
  })
})
