import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertOrganisation } from '../../../test/harness/control-rows.ts'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { codeOf } from '../../../test/harness/second-factor.ts'
import { createUuid, systemClock } from '../../platform/kernel/index.ts'
import type { Accounts } from './accounts.ts'
import {
  addPerson,
  openAccounts,
  openVisitor,
  type Visitor,
  type VisitorAnswer,
  visitorPassword,
} from './testing/visitors.ts'

/** More than all limits together. */
const burst = 150
const perPlace = 10
const stepMs = 30_000

let databases: TestDatabases
let accounts: Accounts
/** Another instance over the same database. */
let other: Accounts
const organisationId = createUuid(Date.now())
beforeAll(async () => {
  databases = await openTestDatabases()
  await insertOrganisation(databases.control, organisationId)
  accounts = openAccounts(databases.control)
  other = openAccounts(databases.control)
})
afterAll(async () => {
  accounts.close()
  other.close()
  await databases.drop()
})

let emails = 0
async function newPerson() {
  const email = `person-${++emails}@example.org`
  await addPerson(accounts, email, organisationId)
  return email
}

async function signIn(email: string, { password = visitorPassword, from = '192.0.2.1' } = {}) {
  const visitor = openVisitor(accounts, from)
  const answer = await visitor.post('/sign-in/email', { email, password })
  return { visitor, answer }
}

/** A person with a second factor, enrolled with the code of this step: use `nextCode` then. */
async function newGuardedPerson() {
  const email = await newPerson()
  const { visitor } = await signIn(email)
  const prepared = (await visitor.post('/two-factor/enable', { password: visitorPassword })).body as {
    totpURI: string
    backupCodes: string[]
  }
  const secret = new URL(prepared.totpURI).searchParams.get('secret')!
  expect((await visitor.post('/two-factor/verify-totp', { code: codeOf(secret) })).status).toBe(200)
  return { email, visitor, secret, backupCodes: prepared.backupCodes }
}

async function signedInAs({ cookies }: Visitor): Promise<string | undefined> {
  const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
  return (await accounts.authenticate(new Headers({ cookie })))?.email
}

/** Valid already, and never the code of a former step. */
const nextCode = (secret: string) => codeOf(secret, Date.now() + stepMs)

const statusesOf = (answers: VisitorAnswer[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** The codes of a second factor that are not valid now. */
function* wrongCodes(secret: string) {
  const valid = new Set([-1, 0, 1, 2].map((step) => codeOf(secret, Date.now() + step * stepMs)))
  for (let code = 0; ; code++) if (!valid.has(String(code).padStart(6, '0'))) yield String(code).padStart(6, '0')
}

/** Sign-ins of one person that wait for the second factor, each in a new browser. */
async function openChallenges(email: string, count: number) {
  const visitors = []
  for (let opened = 0; opened < count; opened++) {
    const { visitor, answer } = await signIn(email)
    expect(answer.body['twoFactorRedirect']).toBe(true)
    visitors.push(visitor)
  }
  return visitors
}

describe('wrong secrets that arrive together on two instances', () => {
  const on = (index: number) => (index % 2 === 0 ? accounts : other)

  test.each([['verify-totp'], ['verify-backup-code']])(
    'of %s are checked ten times for one person, and no right one after that',
    async (path) => {
      const { email, secret, backupCodes } = await newGuardedPerson()
      const visitors = await openChallenges(email, 12)
      const wrong = wrongCodes(secret)
      const guesses = Array.from({ length: burst }, (_, index) =>
        visitors[index % 10]!.post(`/two-factor/${path}`, { code: wrong.next().value }, on(index)),
      )
      const answers = await Promise.all(guesses)
      expect(statusesOf(answers)).toEqual({ 401: perPlace, 429: burst - perPlace })
      const right = path === 'verify-totp' ? nextCode(secret) : backupCodes[0]
      const late = await Promise.all(
        visitors.slice(10).map((visitor) => visitor.post(`/two-factor/${path}`, { code: right })),
      )
      expect(statusesOf(late)).toEqual({ 429: 2 })
    },
  )

  test('are counted also while right ones succeed between them', async () => {
    const { email, secret, backupCodes } = await newGuardedPerson()
    const [first, second, ...guessers] = await openChallenges(email, 7)
    const wrong = wrongCodes(secret)
    const guess = (visitor: Visitor) => visitor.post('/two-factor/verify-backup-code', { code: wrong.next().value })
    let checked = 0
    for (const right of [first!, second!]) {
      const code = backupCodes.pop()
      const answers = await Promise.all([
        ...guessers.slice(0, 4).map(guess),
        right.post('/two-factor/verify-backup-code', { code }),
      ])
      expect(answers.at(-1)!.status).toBe(200)
      checked += statusesOf(answers)[401]!
    }
    for (let index = 0; index < 5; index++) checked += statusesOf([await guess(guessers[4]!)])[401] ?? 0
    expect(checked).toBe(perPlace)
  })

  test('of a password are checked ten times from one address', async () => {
    const email = await newPerson()
    const guesses = Array.from({ length: 60 }, (_, index) =>
      openVisitor(on(index)).post('/sign-in/email', { email, password: `wrong password ${index}` }),
    )
    expect(statusesOf(await Promise.all(guesses))).toEqual({ 401: perPlace, 429: 60 - perPlace })
  })

  test.each([
    ['change-password', (index: number) => ({ currentPassword: `wrong ${index}`, newPassword: 'an entirely new one' })],
    ['two-factor/enable', (index: number) => ({ password: `wrong ${index}` })],
    ['two-factor/disable', (index: number) => ({ password: `wrong ${index}` })],
    ['two-factor/verify-totp', (index: number) => ({ code: `wrong ${index}` })],
    ['two-factor/verify-backup-code', (index: number) => ({ code: `wrong ${index}` })],
  ])('of %s are checked ten times in one session', async (path, body) => {
    const { visitor } = path.includes('verify') ? await newGuardedPerson() : await signIn(await newPerson())
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => visitor.post(`/${path}`, body(index), on(index))),
    )
    expect(statusesOf(answers)[429]).toBe(40 - perPlace)
  })
})

describe('a one-time code', () => {
  test('is accepted once in its window, also when it arrives several times together', async () => {
    const { email, secret } = await newGuardedPerson()
    const visitors = await openChallenges(email, 8)
    const code = nextCode(secret)
    const answers = await Promise.all(visitors.slice(0, 7).map((one) => one.post('/two-factor/verify-totp', { code })))
    expect(statusesOf(answers)).toEqual({ 200: 1, 401: 6 })
    const replay = await visitors[7]!.post('/two-factor/verify-totp', { code })
    expect([replay.status, replay.body['code']]).toEqual([401, 'INVALID_CODE'])
    expect(await signedInAs(visitors[7]!)).toBeUndefined()
  })

  test('that turned the second factor on does not sign in', async () => {
    const email = await newPerson()
    const { visitor } = await signIn(email)
    const prepared = await visitor.post('/two-factor/enable', { password: visitorPassword })
    const secret = new URL(prepared.body['totpURI'] as string).searchParams.get('secret')!
    const code = codeOf(secret)
    expect((await visitor.post('/two-factor/verify-totp', { code })).status).toBe(200)
    const [next] = await openChallenges(email, 1)
    expect((await next!.post('/two-factor/verify-totp', { code })).status).toBe(401)
    expect((await next!.post('/two-factor/verify-totp', { code: nextCode(secret) })).status).toBe(200)
  })
})

test('a backup code is accepted once, also when it arrives several times together', async () => {
  const { email, backupCodes } = await newGuardedPerson()
  const visitors = await openChallenges(email, 8)
  const use = (one: Visitor) => one.post('/two-factor/verify-backup-code', { code: backupCodes[0] })
  await Promise.all(visitors.map(use))
  const signedIn = await Promise.all(visitors.map(signedInAs))
  expect(signedIn.filter((one) => one !== undefined)).toEqual([email])
})

test('right backup codes that arrive together are not counted as wrong ones', async () => {
  const { email, secret, backupCodes } = await newGuardedPerson()
  const visitors = await openChallenges(email, 11)
  const use = (one: Visitor, code: string | undefined) => one.post('/two-factor/verify-backup-code', { code })
  const right = await Promise.all(visitors.slice(0, 8).map((one, index) => use(one, backupCodes[index])))
  // The library stores the codes that are left only if no other one was used meanwhile.
  const { 200: used = 0, 409: overtaken = 0 } = statusesOf(right)
  expect(used + overtaken).toBe(8)
  expect(overtaken).toBeGreaterThan(0)
  const wrong = wrongCodes(secret)
  const guesses = []
  for (const one of visitors.slice(8))
    for (let guess = 0; guess < 4; guess++) guesses.push(await use(one, wrong.next().value as string))
  expect(statusesOf(guesses)).toEqual({ 401: perPlace, 429: 2 })
})

describe('a sign-in that waits for the second factor', () => {
  test.each([
    [
      'a change of the password',
      async (own: Visitor) => {
        const given = { currentPassword: visitorPassword, newPassword: 'an entirely new password' }
        expect((await own.post('/change-password', given)).status).toBe(200)
      },
    ],
    [
      'a link for a new password',
      async (_: Visitor, email: string) => {
        const { people } = await accounts.loadPersonPage({ limit: 10, offset: 0, search: email })
        const by = { name: 'operator', requestId: 'req_test' }
        const { token } = await accounts.createPasswordReset(people[0]!.id, { removeSecondFactor: false }, by)
        const from = { requestId: 'req_test', clientAddress: '192.0.2.1' }
        await accounts.usePasswordReset(token, 'an entirely new password', from)
      },
    ],
  ])('ends with %s', async (_, change) => {
    const { email, visitor: own, secret } = await newGuardedPerson()
    const [pending] = await openChallenges(email, 1)
    await change(own, email)
    const late = await pending!.post('/two-factor/verify-totp', { code: nextCode(secret) })
    expect([late.status, late.body['code']]).toEqual([401, 'INVALID_TWO_FACTOR_COOKIE'])
  })
})

describe('cookies of another person', () => {
  test('do not move the count of codes away from the person whose codes are checked', async () => {
    const [{ email, secret }, attacker] = [await newGuardedPerson(), await newGuardedPerson()]
    const [visitor, ...challenges] = await openChallenges(email, 5)
    const wrong = wrongCodes(secret)
    for (const one of challenges)
      for (let index = 0; index < 3; index++) await one.post('/two-factor/verify-totp', { code: wrong.next().value })
    const [foreign] = await openChallenges(attacker.email, 1)
    const own = visitor!.cookies.get('portico.two_factor')!
    const others = foreign!.cookies.get('portico.two_factor')!
    const session = attacker.visitor.cookies.get('portico.session_token')!
    for (const cookies of [
      [`portico.two_factor=${own}`, `portico.two_factor=${others}`],
      [`portico.two_factor=${others}`, `portico.two_factor=${own}`],
      // A session that only one of two parsers accepts.
      [`portico.two_factor=${own}`, `portico.session_token=${session.replace(/%3D$/, '')}`],
      [`portico.two_factor=${own}`, `portico.session_token=${session}%20`],
      [`portico.two_factor=${own}`, 'portico.session_token=none', `portico.session_token=${session}`],
    ]) {
      visitor!.cookies.clear()
      for (const [index, cookie] of cookies.entries()) visitor!.cookies.set(`x${index}=y; ${cookie}; z`, '')
      await visitor!.post('/two-factor/verify-totp', { code: nextCode(secret) })
      expect(await signedInAs(visitor!)).not.toBe(email)
    }
  })
})

describe('where sign-in with passwords is turned off', () => {
  test('a session of a password is none, and that of single sign-on is one', async () => {
    const { email, visitor } = await newGuardedPerson()
    const off = openAccounts(databases.control, systemClock, false)
    const headers = new Headers({ cookie: [...visitor.cookies].map((pair) => pair.join('=')).join('; ') })
    const request = { requestId: 'req_test', method: 'GET', path: '/get-session', headers, body: undefined }
    const from = { origin: 'http://127.0.0.1', clientAddress: '192.0.2.1' }
    const read = async () => {
      const response = await off.handleSignIn({ ...request, ...from })
      const body = (await response.json()) as { user: { email: string } } | null
      return [(await off.authenticate(headers))?.email, body?.user.email]
    }
    expect(await read()).toEqual([undefined, undefined])
    expect(await visitor.post('/two-factor/verify-totp', { code: '000000' }, off)).toMatchObject({
      body: { code: 'conflict' },
    })
    await databases.control.execute(
      `UPDATE people_sessions SET final_at = expires_at WHERE person_id = (SELECT id FROM people WHERE email = $1)`,
      [email],
    )
    expect(await read()).toEqual([email, email])
    off.close()
  })
})

describe('trustDevice', () => {
  test('has no effect: the second factor is required again', async () => {
    const { email, secret } = await newGuardedPerson()
    const [visitor] = await openChallenges(email, 1)
    const answer = await visitor!.post('/two-factor/verify-totp', { code: nextCode(secret), trustDevice: true })
    expect(answer.status).toBe(200)
    expect([...visitor!.cookies.keys()].toSorted()).toEqual(['portico.device', 'portico.session_token'])
    const again = await visitor!.post('/sign-in/email', { email, password: visitorPassword })
    expect(again.body['twoFactorRedirect']).toBe(true)
  })

  test('and further fields of the library do not reach it', async () => {
    const { email, visitor, backupCodes } = await newGuardedPerson()
    const fields = { rememberMe: false, callbackURL: 'https://evil.example', disableSession: true }
    const first = await visitor.post('/sign-in/email', { email, password: visitorPassword, ...fields })
    expect(first.body['twoFactorRedirect']).toBe(true)
    const second = await visitor.post('/two-factor/verify-backup-code', { code: backupCodes[0], ...fields })
    expect(second.status).toBe(200)
    expect([...visitor.cookies.keys()].toSorted()).toEqual(['portico.device', 'portico.session_token'])
    expect(JSON.stringify([first.body, second.body])).not.toContain('evil.example')
  })
})

describe('guesses from elsewhere', () => {
  const guess = (email: string, from: string) => signIn(email, { password: 'wrong wrong wrong', from })

  test('do not lock a device on which the person has signed in, and other devices only at the same address', async () => {
    const email = await newPerson()
    const { visitor: own } = await signIn(email)
    await own.post('/sign-out')
    for (let index = 0; index < 12; index++) await guess(email, '192.0.2.1')
    expect((await signIn(email)).answer.status).toBe(429)
    expect((await own.post('/sign-in/email', { email, password: visitorPassword })).status).toBe(200)
    expect((await signIn(email, { from: '198.51.100.9' })).answer.status).toBe(200)
  })

  test('lock neither the session of the person nor, in a session, the sign-in', async () => {
    const email = await newPerson()
    const { visitor: own } = await signIn(email)
    for (let index = 0; index < 11; index++) await guess(email, '192.0.2.1')
    expect((await own.post('/two-factor/enable', { password: visitorPassword })).status).toBe(200)
    for (let index = 0; index < 11; index++) await own.post('/two-factor/enable', { password: 'wrong wrong wrong' })
    expect((await signIn(email, { from: '198.51.100.10' })).answer.status).toBe(200)
  })

  test('of the second factor do not lock the device of the person', async () => {
    const { email, visitor: own, secret } = await newGuardedPerson()
    await own.post('/sign-out')
    const visitors = await openChallenges(email, 12)
    const wrong = wrongCodes(secret)
    for (const visitor of visitors) await visitor.post('/two-factor/verify-totp', { code: wrong.next().value })
    await own.post('/sign-in/email', { email, password: visitorPassword })
    expect((await own.post('/two-factor/verify-totp', { code: nextCode(secret) })).status).toBe(200)
  })

  test('lock a device that another person has signed in on', async () => {
    const email = await newPerson()
    const { visitor: foreign } = await signIn(await newPerson())
    for (let index = 0; index < 11; index++) await guess(email, '192.0.2.1')
    expect((await foreign.post('/sign-in/email', { email, password: visitorPassword })).status).toBe(429)
  })

  test('lock a device again after the password was changed elsewhere', async () => {
    const email = await newPerson()
    const { visitor: old } = await signIn(email)
    const { visitor: own } = await signIn(email)
    const newPassword = 'an entirely new password'
    expect((await own.post('/change-password', { currentPassword: visitorPassword, newPassword })).status).toBe(200)
    for (let index = 0; index < 11; index++) await guess(email, '192.0.2.1')
    await own.post('/sign-out')
    expect((await old.post('/sign-in/email', { email, password: newPassword })).status).toBe(429)
    expect((await own.post('/sign-in/email', { email, password: newPassword })).status).toBe(200)
  })
})
