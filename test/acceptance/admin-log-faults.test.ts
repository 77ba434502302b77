import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, createPerson, openBrowser, testPassword } from '../harness/people.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico, uploadForm } from '../harness/portico.ts'
import { codeOf } from '../harness/second-factor.ts'

/** The admin log while its table rejects entries: a change and its entry are never separated. */

let portico: TestPortico
let organisation: TestOrganisation

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
})
afterAll(() => portico?.stop())

const entriesOf = async (action: string, email: string) =>
  expectStatus(await portico.operator('GET', `/api/admin-log?action=${action}&actor=${email}&limit=100`), 200).items

/** Runs `act` while no entry of `email` can be written. */
async function withoutLog<Result>(email: string, act: () => Promise<Result>): Promise<Result> {
  const { control } = portico.service
  await control.execute(`alter table admin_log add constraint test_fault check (actor <> '${email}') not valid`)
  try {
    return await act()
  } finally {
    await control.execute('alter table admin_log drop constraint test_fault')
  }
}

describe('a change of the sign-in library', () => {
  const signIn = (email: string, password: string) =>
    openBrowser(portico.url).call('POST', '/api/auth/sign-in/email', { email, password })

  test('of a password is undone if its entry cannot be written, and has one entry otherwise', async () => {
    const email = 'pia@example.org'
    const person = await createPerson(portico, { email, organisationId: organisation.id })
    const change = (by: Browser) =>
      by.call('POST', '/api/auth/change-password', {
        currentPassword: testPassword,
        newPassword: 'another long password',
      })
    const failed = await withoutLog(email, () => change(person))
    expect(failed.status).toBeGreaterThanOrEqual(500)
    expect((await signIn(email, 'another long password')).status).toBe(401)
    expect(await entriesOf('person.password_changed', email)).toEqual([])
    const again = openBrowser(portico.url)
    expectStatus(await again.call('POST', '/api/auth/sign-in/email', { email, password: testPassword }), 200)
    expectStatus(await change(again), 200)
    expect((await signIn(email, 'another long password')).status).toBe(200)
    expect(await entriesOf('person.password_changed', email)).toHaveLength(1)
  })

  test('of the second factor has one entry for each step, and is undone without its entry', async () => {
    const email = 'finn@example.org'
    const person = await createPerson(portico, { email, organisationId: organisation.id })
    const isEnabled = async () => (await person.call('GET', '/api/me')).body.person.twoFactorEnabled
    const given = { password: testPassword }
    const prepared = expectStatus(await person.call('POST', '/api/auth/two-factor/enable', given), 200)
    const secret = new URL(prepared.totpURI).searchParams.get('secret')!
    const verify = (atMs = Date.now()) =>
      person.call('POST', '/api/auth/two-factor/verify-totp', { code: codeOf(secret, atMs) })
    expect((await withoutLog(email, () => verify())).status).toBeGreaterThanOrEqual(500)
    expect(await isEnabled()).toBe(false)
    expectStatus(await verify(), 200)
    // The code of a sign-in changes nothing.
    const browser = openBrowser(portico.url)
    await browser.call('POST', '/api/auth/sign-in/email', { email, password: testPassword })
    const nextCode = codeOf(secret, Date.now() + 30_000)
    expectStatus(await browser.call('POST', '/api/auth/two-factor/verify-totp', { code: nextCode }), 200)
    expectStatus(await person.call('POST', '/api/auth/two-factor/generate-backup-codes', given), 200)
    expectStatus(await person.call('POST', '/api/auth/two-factor/disable', given), 200)
    const { person: me } = (await person.call('GET', '/api/me')).body
    const steps = {
      two_factor_prepared: null,
      two_factor_enabled: { twoFactorEnabled: true },
      backup_codes_replaced: null,
      two_factor_disabled: { twoFactorEnabled: false },
    }
    for (const [step, after] of Object.entries(steps)) {
      const entries = await entriesOf(`person.${step}`, email)
      expect(entries, step).toMatchObject([{ subjectId: me.id, personId: me.id, before: null, after }])
    }
  })
})

describe('a change of a document', () => {
  test('gets its entry later, once, if the log cannot be written', async () => {
    const email = 'dora@example.org'
    const person = await createPerson(portico, { email, organisationId: organisation.id })
    const { id: spaceId } = await portico.createSpace(organisation)
    const path = `/api/spaces/${spaceId}/documents`
    const { id, requestId } = await withoutLog(email, async () => {
      const uploaded = expectStatus(await person.call('POST', path, uploadForm('Okapi.', 'a.txt')), 201)
      const renamed = await person.call('PATCH', `/api/documents/${uploaded.id}`, {
        name: 'b.txt',
        metadata: { note: 'with \u0000' },
      })
      expectStatus(renamed, 200)
      expectStatus(await person.call('DELETE', `/api/documents/${uploaded.id}`), 204)
      const waiting = () =>
        portico.service.corpus.query(`select 1 from job where kind = 'admin-log-entry' and attempt > 0`)
      await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(3)
      return { id: uploaded.id, requestId: renamed.headers.get('x-request-id') }
    })
    const jobs = () => portico.service.corpus.query(`select 1 from job where kind = 'admin-log-entry'`)
    await expect.poll(jobs, { timeout: 60_000 }).toEqual([])
    const created = { before: null, after: { name: 'a.txt', spaceId } }
    expect(await entriesOf('document.created', email)).toMatchObject([{ subjectId: id, ...created }])
    expect(await entriesOf('document.updated', email)).toMatchObject([
      {
        subjectId: id,
        requestId,
        before: { name: 'a.txt', metadata: null },
        after: { name: 'b.txt', metadata: { note: 'with \ufffd' } },
      },
    ])
    expect(await entriesOf('document.removed', email)).toMatchObject([{ subjectId: id, before: { name: 'b.txt' } }])
  })
})
