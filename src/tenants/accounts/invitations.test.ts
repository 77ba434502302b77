import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertOrganisation } from '../../../test/harness/control-rows.ts'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createUuid } from '../../platform/kernel/index.ts'
import type { Accounts } from './accounts.ts'
import { createSingleSignOnStore } from './single-sign-on.store.ts'
import { acceptAs, addPerson, openAccounts, visitorPassword } from './testing/visitors.ts'

let databases: TestDatabases
let accounts: Accounts
const organisationId = createUuid(Date.now())
const otherId = createUuid(Date.now())
const operator = { name: 'operator', requestId: 'req_test' }
beforeAll(async () => {
  databases = await openTestDatabases()
  await insertOrganisation(databases.control, organisationId)
  await insertOrganisation(databases.control, otherId)
  accounts = openAccounts(databases.control)
})
afterAll(async () => {
  accounts.close()
  await databases.drop()
})

let people = 0
const newEmail = () => `person-${++people}@example.org`
const confirmed = { isOperator: true, acceptUnverifiedEmail: true }

async function newSender(role: 'operator' | 'administrator') {
  const email = newEmail()
  const personId = await addPerson(accounts, email, organisationId)
  const key = { organisationId, personId }
  if (role === 'operator') {
    await accounts.changeMember(key, null, operator)
    await accounts.setOperator(personId, confirmed, operator)
  } else await accounts.changeMember(key, 'administrator', operator)
  return { ...key, actor: { name: email, requestId: 'req_test', personId } }
}

type Sender = Awaited<ReturnType<typeof newSender>>
type Role = 'operator' | 'administrator' | 'member'

const inviteBy = async ({ actor }: Sender, role: Role, email = newEmail()) =>
  (await accounts.invite({ email, role, organisationId: role === 'operator' ? null : organisationId }, actor)).token

const find = (token: string) => accounts.findInvitation(token, '192.0.2.1')
const gone = { code: 'not_found' }

/** A person with an account accepts an invitation of the operator. */
async function joinAgain({ personId, organisationId: to, actor }: Sender, role: Role) {
  const { token } = await accounts.invite({ email: actor.name, role, organisationId: to }, operator)
  const person = { ...(await accounts.loadPerson(personId)), memberships: new Map(), sessionId: otherId }
  await accounts.acceptInvitation(token, { person, account: {}, requestId: 'r', clientAddress: '192.0.2.1' })
}

/** Signs a person in at the provider, whose groups give the role of an operator or no role. */
async function signInWithGroups(email: string, isOperator: boolean) {
  const identity = { accountId: `i ${email}`, issuer: 'i', email, isVerified: true, name: 'N', groups: [] }
  const rules = { roles: { isOperator, memberships: new Map() }, createAccounts: false }
  const admitted = await createSingleSignOnStore(databases.control).admit(identity, rules, {
    actor: operator,
    atMs: Date.now(),
  })
  expect(admitted).toHaveProperty('personId')
}

/** What ends the right to invite, for the roles of senders and invitations. */
const ends: [string, 'operator' | 'administrator', Role, (sender: Sender) => Promise<unknown>][] = [
  ['is a member only', 'administrator', 'member', (by) => accounts.changeMember(by, 'member', operator)],
  ['is a member only', 'administrator', 'administrator', (by) => accounts.changeMember(by, 'member', operator)],
  ['has left the organisation', 'administrator', 'member', (by) => accounts.changeMember(by, null, operator)],
  ['has no account any more', 'administrator', 'member', ({ personId }) => accounts.removePerson(personId, operator)],
  ['has no account any more', 'operator', 'operator', ({ personId }) => accounts.removePerson(personId, operator)],
  [
    'is no operator any more',
    'operator',
    'operator',
    ({ personId }) => accounts.setOperator(personId, { isOperator: false, acceptUnverifiedEmail: false }, operator),
  ],
  [
    'is no operator any more',
    'operator',
    'administrator',
    ({ personId }) => accounts.setOperator(personId, { isOperator: false, acceptUnverifiedEmail: false }, operator),
  ],
  [
    'is administrator of another organisation only',
    'administrator',
    'member',
    async (by) => {
      await joinAgain({ ...by, organisationId: otherId }, 'administrator')
      await accounts.changeMember(by, null, operator)
    },
  ],
]

describe('an invitation', () => {
  test.each(ends)('ends when its sender %s (%s who invites: %s)', async (_, senderRole, role, end) => {
    const sender = await newSender(senderRole)
    const token = await inviteBy(sender, role)
    const organisation = role === 'operator' ? null : organisationId
    const total = async () => (await accounts.loadInvitationPage(organisation, { limit: 100, offset: 0 })).total
    const before = await total()
    expect(await find(token)).toMatchObject({ role })
    await end(sender)
    await expect(find(token)).rejects.toMatchObject(gone)
    await expect(acceptAs(accounts, token, 'Late')).rejects.toMatchObject(gone)
    expect(await total()).toBe(before - 1)
  })

  test('is accepted once when it is accepted several times together', async () => {
    const { token } = await accounts.invite({ email: newEmail(), role: 'member', organisationId }, operator)
    const accepted = await Promise.allSettled(Array.from({ length: 8 }, () => acceptAs(accounts, token, 'Person')))
    expect(accepted.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('of a person whose account was removed does not pass to a new account of the e-mail', async () => {
    const sender = await newSender('administrator')
    const token = await inviteBy(sender, 'member')
    await accounts.removePerson(sender.personId, operator)
    const personId = await addPerson(accounts, sender.actor.name, organisationId)
    await accounts.changeMember({ organisationId, personId }, 'administrator', operator)
    await expect(find(token)).rejects.toMatchObject(gone)
  })

  test('of a former administrator lets nobody in by single sign-on', async () => {
    const sender = await newSender('administrator')
    const email = newEmail()
    await inviteBy(sender, 'member', email)
    const store = createSingleSignOnStore(databases.control)
    const identity = { accountId: `i ${email}`, issuer: 'i', email, isVerified: true, name: 'N', groups: [] }
    const rules = { roles: { isOperator: false, memberships: new Map() }, createAccounts: false }
    const admit = () => store.admit(identity, rules, { actor: operator, atMs: Date.now() })
    await accounts.changeMember(sender, 'member', operator)
    expect(await admit()).toEqual({ refused: 'no_account' })
    await accounts.changeMember(sender, 'administrator', operator)
    await inviteBy(sender, 'member', email)
    expect(await admit()).toMatchObject({ personId: expect.any(String) })
  })

  test.each<[string, 'operator' | 'administrator', Role, (sender: Sender) => Promise<unknown>]>([
    [
      'of a former administrator',
      'administrator',
      'administrator',
      async (by) => {
        await accounts.changeMember(by, 'member', operator)
        await accounts.changeMember(by, 'administrator', operator)
      },
    ],
    [
      'of an administrator who has left the organisation',
      'administrator',
      'member',
      async (by) => {
        await accounts.changeMember(by, null, operator)
        await joinAgain(by, 'administrator')
      },
    ],
    [
      'of an administrator who has accepted a lower role',
      'administrator',
      'member',
      async (by) => {
        await joinAgain(by, 'member')
        await accounts.changeMember(by, 'administrator', operator)
      },
    ],
    [
      'of a former operator',
      'operator',
      'operator',
      async ({ personId }) => {
        await accounts.setOperator(personId, { ...confirmed, isOperator: false }, operator)
        await accounts.setOperator(personId, confirmed, operator)
      },
    ],
    [
      'of a person whose groups gave the role of an operator',
      'operator',
      'member',
      async ({ personId, actor: { name: email } }) => {
        await databases.control.execute(`UPDATE people SET operator_from_groups = true WHERE id = $1`, [personId])
        await signInWithGroups(email, false)
        await signInWithGroups(email, true)
      },
    ],
  ])('%s stays ended when its sender gets the right back (%s who invites: %s)', async (_, senderRole, role, change) => {
    const sender = await newSender(senderRole)
    const token = await inviteBy(sender, role)
    await change(sender)
    await expect(find(token)).rejects.toMatchObject(gone)
    await expect(acceptAs(accounts, token, 'Late')).rejects.toMatchObject(gone)
    expect(await find(await inviteBy(sender, role))).toMatchObject({ role })
  })

  test('of an operator who was an administrator stays open', async () => {
    const sender = await newSender('administrator')
    await accounts.setOperator(sender.personId, confirmed, operator)
    const token = await inviteBy(sender, 'member')
    await accounts.changeMember(sender, null, operator)
    expect(await find(token)).toMatchObject({ role: 'member' })
  })

  test('of the operator token ends when the token is replaced', async () => {
    const { token } = await accounts.invite({ email: newEmail(), role: 'member', organisationId }, operator)
    expect(await find(token)).toMatchObject({ role: 'member' })
    await databases.control.execute(
      `INSERT INTO operator_token (token_hash, prefix, last_four, created_at) VALUES ($1, 'p', 'l', $2)
       ON CONFLICT (only_row) DO UPDATE SET created_at = excluded.created_at`,
      [new Uint8Array(32), new Date(Date.now() + 1)],
    )
    await expect(find(token)).rejects.toMatchObject(gone)
    await databases.control.execute(`DELETE FROM operator_token`)
  })

  test('that a version before the column of the sender has stored follows the rights of its e-mail', async () => {
    const sender = await newSender('administrator')
    const token = await inviteBy(sender, 'member')
    await databases.control.execute(`UPDATE people_invitations SET invited_by_person = NULL`)
    expect(await find(token)).toMatchObject({ role: 'member' })
    await accounts.changeMember(sender, 'member', operator)
    await expect(find(token)).rejects.toMatchObject(gone)
  })
})

describe('a link for a new password', () => {
  test('ends when the operator who has made it is none any more', async () => {
    const { personId, actor } = await newSender('operator')
    const ofPerson = await addPerson(accounts, newEmail(), organisationId)
    const { token } = await accounts.createPasswordReset(ofPerson, { removeSecondFactor: false }, actor)
    expect(await accounts.findPasswordReset(token, '192.0.2.1')).toMatchObject({ personId: ofPerson })
    await accounts.setOperator(personId, { isOperator: false, acceptUnverifiedEmail: false }, operator)
    await expect(accounts.findPasswordReset(token, '192.0.2.1')).rejects.toMatchObject(gone)
    const by = { requestId: 'r', clientAddress: '192.0.2.1' }
    await expect(accounts.usePasswordReset(token, visitorPassword, by)).rejects.toMatchObject(gone)
    await accounts.setOperator(personId, confirmed, operator)
    await expect(accounts.findPasswordReset(token, '192.0.2.1')).rejects.toMatchObject(gone)
  })

  test('sets no password made of the name of the person', async () => {
    const { token: invited } = await accounts.invite({ email: newEmail(), role: 'member', organisationId }, operator)
    const personId = await acceptAs(accounts, invited, 'Marguerite Yourcenar')
    const { token } = await accounts.createPasswordReset(personId, { removeSecondFactor: false }, operator)
    const by = { requestId: 'r', clientAddress: '192.0.2.1' }
    const refused = accounts.usePasswordReset(token, 'Yourcenar 1951', by)
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', param: 'password' })
    await accounts.usePasswordReset(token, visitorPassword, by)
  })

  test('sets one of the passwords that arrive together', async () => {
    const personId = await addPerson(accounts, newEmail(), organisationId)
    const { token } = await accounts.createPasswordReset(personId, { removeSecondFactor: false }, operator)
    const by = { requestId: 'r', clientAddress: '192.0.2.1' }
    const used = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) => accounts.usePasswordReset(token, `unusual words ${index}`, by)),
    )
    expect(used.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('an invited person', () => {
  test('has an unverified e-mail, and becomes an operator only when an operator accepts that', async () => {
    const { token } = await accounts.invite({ email: newEmail(), role: 'operator', organisationId: null }, operator)
    const personId = await acceptAs(accounts, token, 'Invited')
    expect(await accounts.loadPerson(personId)).toMatchObject({ emailVerified: false, isOperator: false })
    const unconfirmed = { isOperator: true, acceptUnverifiedEmail: false }
    await expect(accounts.setOperator(personId, unconfirmed, operator)).rejects.toMatchObject({ code: 'conflict' })
    expect(await accounts.loadPerson(personId)).toMatchObject({ isOperator: false })
    expect(await accounts.setOperator(personId, confirmed, operator)).toMatchObject({ isOperator: true })
  })

  test('with an account becomes an operator in the same way', async () => {
    const email = newEmail()
    const personId = await addPerson(accounts, email, organisationId)
    const { token } = await accounts.invite({ email, role: 'operator', organisationId: null }, operator)
    const person = { ...(await accounts.loadPerson(personId)), memberships: new Map(), sessionId: otherId }
    await accounts.acceptInvitation(token, { person, account: {}, requestId: 'r', clientAddress: '192.0.2.1' })
    expect(await accounts.loadPerson(personId)).toMatchObject({ isOperator: false })
    const { members } = await accounts.loadMemberPage(organisationId, { limit: 100, offset: 0 })
    expect(members.find((member) => member.personId === personId)).toMatchObject({ emailVerified: false })
  })

  test('sees the same invitation with and without an account', async () => {
    const known = newEmail()
    await addPerson(accounts, known, organisationId)
    const seen = []
    for (const email of [known, newEmail()]) {
      const { token } = await accounts.invite({ email, role: 'member', organisationId: otherId }, operator)
      const { role, organisationName, invitedBy, ...others } = await find(token)
      const by = { person: undefined, requestId: 'r', clientAddress: '192.0.2.1' }
      const refused = await Promise.allSettled([
        accounts.acceptInvitation(token, { ...by, account: {} }),
        accounts.acceptInvitation(token, { ...by, account: { name: 'Guess' } }),
        accounts.acceptInvitation(token, { ...by, account: { password: visitorPassword } }),
      ])
      const codes = refused.map((one) => (one.status === 'rejected' ? one.reason.message : one.value))
      seen.push({ role, organisationName, invitedBy, fields: Object.keys(others), codes })
    }
    expect(seen[0]).toEqual(seen[1])
  })
})
