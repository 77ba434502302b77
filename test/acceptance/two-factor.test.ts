import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, createPerson, openBrowser, testPassword } from '../harness/people.ts'
import { expectStatus, startPortico, type TestPortico } from '../harness/portico.ts'
import { codeOf } from '../harness/second-factor.ts'

let portico: TestPortico
let person: Browser
beforeAll(async () => {
  portico = await startPortico()
  person = await createPerson(portico, { email: 'two@example.org' })
})
afterAll(() => portico.stop())

test('a second factor is required once it is set up, and ends with a limited number of wrong codes', async () => {
  const given = { password: testPassword }
  expect((await person.call('POST', '/api/auth/two-factor/enable', { password: 'wrong wrong' })).status).toBe(400)
  const prepared = expectStatus(await person.call('POST', '/api/auth/two-factor/enable', given), 200)
  const secret = new URL(prepared.totpURI).searchParams.get('secret')!
  expectStatus(await person.call('POST', '/api/auth/two-factor/verify-totp', { code: codeOf(secret) }), 200)
  expect((await person.call('GET', '/api/me')).body.person.twoFactorEnabled).toBe(true)

  const [stored] = await portico.service.control.query<{ row: string }>(
    `SELECT t::text AS row FROM people_two_factors t`,
  )
  for (const clear of [secret, ...prepared.backupCodes]) expect(stored!.row).not.toContain(clear)

  const browser = openBrowser(portico.url)
  const credentials = { email: 'two@example.org', password: testPassword }
  const first = expectStatus(await browser.call('POST', '/api/auth/sign-in/email', credentials), 200)
  expect(first.twoFactorRedirect).toBe(true)
  expect((await browser.call('GET', '/api/me')).status).toBe(401)
  const wrong = codeOf(secret, Date.now() + 3_600_000)
  expect((await browser.call('POST', '/api/auth/two-factor/verify-totp', { code: wrong })).status).toBe(401)
  const next = { code: codeOf(secret, Date.now() + 30_000) }
  expectStatus(await browser.call('POST', '/api/auth/two-factor/verify-totp', next), 200)
  expect((await browser.call('GET', '/api/me')).status).toBe(200)

  const guesser = openBrowser(portico.url)
  expectStatus(await guesser.call('POST', '/api/auth/sign-in/email', credentials), 200)
  for (let guess = 0; guess < 12; guess++)
    await guesser.call('POST', '/api/auth/two-factor/verify-totp', { code: wrong })
  const late = await guesser.call('POST', '/api/auth/two-factor/verify-totp', { code: codeOf(secret) })
  expect(late.status).toBeGreaterThanOrEqual(400)
  expect((await guesser.call('GET', '/api/me')).status).toBe(401)
})

test('a backup code replaces the second factor once', async () => {
  const other = await createPerson(portico, { email: 'backup@example.org' })
  const given = { password: testPassword }
  const prepared = expectStatus(await other.call('POST', '/api/auth/two-factor/enable', given), 200)
  const secret = new URL(prepared.totpURI).searchParams.get('secret')!
  expectStatus(await other.call('POST', '/api/auth/two-factor/verify-totp', { code: codeOf(secret) }), 200)
  const code = prepared.backupCodes[0]
  for (const status of [200, 401]) {
    const browser = openBrowser(portico.url)
    await browser.call('POST', '/api/auth/sign-in/email', { email: 'backup@example.org', password: testPassword })
    expect((await browser.call('POST', '/api/auth/two-factor/verify-backup-code', { code })).status).toBe(status)
    expect((await browser.call('GET', '/api/me')).status).toBe(status)
  }
})
