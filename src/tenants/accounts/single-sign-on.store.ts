import type { OwnedDatabase, Queryable } from '../../platform/database/index.ts'
import { createUuid } from '../../platform/kernel/index.ts'
import { endLinksOf, isOpenAt } from './issued-links.store.ts'
import { type Change, endSignIns, insertPerson, putMembership, record, removeSecondFactor } from './people.store.ts'
import type { GroupRoles, Identity } from './person.ts'

/** The value of `provider_id` for identities of the single sign-on provider. */
export const singleSignOnId = 'sso'

interface Refusal {
  refused: 'no_account' | 'email_belongs_to_another_identity'
}

/** What became of a sign-in: the id of the person, or why there is none. */
export type Admission = { personId: string } | Refusal

/** Why a person is admitted. The account is that of the same identity or of the same e-mail; otherwise there is none yet. */
type Decision =
  | { rule: 'identity' | 'email'; account: { id: string; email: string } }
  | { rule: 'invitation' | 'new' }
  | Refusal

/** The accounts of people who sign in at the provider. */
export function createSingleSignOnStore(database: OwnedDatabase) {
  return {
    /** Finds or creates the account of a verified identity, and sets the roles of its groups. */
    admit: (
      identity: Identity,
      { roles, createAccounts }: { roles: GroupRoles; createAccounts: boolean },
      change: Change,
    ): Promise<Admission> =>
      database.transaction(async (transaction) => {
        const found = await findPerson(transaction, identity, createAccounts, change)
        if ('refused' in found) return found
        const by = { ...change, actor: { ...change.actor, personId: found.personId } }
        await setOperator(transaction, found.personId, roles.isOperator, by)
        await setMemberships(transaction, found.personId, roles.memberships, by)
        return found
      }),

    /** How the identity would be admitted now. Changes nothing. */
    preview: (identity: Identity, { createAccounts }: { createAccounts: boolean }, atMs: number): Promise<Decision> =>
      database.transaction((transaction) => decide(transaction, identity, createAccounts, atMs)),
  }
}

async function decide(
  transaction: Queryable,
  identity: Identity,
  createAccounts: boolean,
  atMs: number,
): Promise<Decision> {
  const [owner] = await transaction.query<{ id: string; email: string }>(
    `SELECT p.id, p.email FROM people_accounts a JOIN people p ON p.id = a.person_id
      WHERE a.provider_id = $1 AND a.account_id = $2 FOR UPDATE OF p`,
    [singleSignOnId, identity.accountId],
  )
  if (owner) return { rule: 'identity', account: owner }
  const [sameEmail] = await transaction.query<{ id: string; email: string }>(
    `SELECT id, email FROM people WHERE email = $1 FOR UPDATE`,
    [identity.email],
  )
  if (sameEmail) {
    const others = await transaction.query<{ accountId: string }>(
      `SELECT account_id AS "accountId" FROM people_accounts WHERE person_id = $1 AND provider_id = $2`,
      [sameEmail.id, singleSignOnId],
    )
    // An email that the provider has given to another person does not open the account.
    return others.some(({ accountId }) => accountId.startsWith(`${identity.issuer} `))
      ? { refused: 'email_belongs_to_another_identity' }
      : { rule: 'email', account: sameEmail }
  }
  if (createAccounts) return { rule: 'new' }
  return (await isInvited(transaction, identity.email, atMs)) ? { rule: 'invitation' } : { refused: 'no_account' }
}

async function findPerson(
  transaction: Queryable,
  identity: Identity,
  createAccounts: boolean,
  change: Change,
): Promise<Admission> {
  const decision = await decide(transaction, identity, createAccounts, change.atMs)
  if ('refused' in decision) return decision
  if (decision.rule === 'identity') {
    const { account } = decision
    if (account.email !== identity.email) await changeEmail(transaction, account, identity.email, change)
    return { personId: account.id }
  }
  if (decision.rule === 'email') return connect(transaction, decision.account, identity, change)
  const person = {
    id: createUuid(change.atMs),
    email: identity.email,
    name: identity.name || identity.email,
    passwordHash: null,
    isOperator: false,
  }
  // Two first sign-ins at once: the second one finds the account when the person tries again.
  if (!(await insertPerson(transaction, person, change))) return { refused: 'email_belongs_to_another_identity' }
  await addIdentity(transaction, person.id, identity, change)
  return { personId: person.id }
}

/**
 * Connects the account of the same email. Nobody has verified that the owner of its password owns the email, so the password, the second
 * factor and the sessions of the account end.
 */
async function connect(
  transaction: Queryable,
  { id, email }: { id: string; email: string },
  identity: Identity,
  change: Change,
): Promise<Admission> {
  await transaction.execute(`DELETE FROM people_accounts WHERE person_id = $1`, [id])
  await removeSecondFactor(transaction, id)
  await endSignIns(transaction, id)
  await transaction.execute(`DELETE FROM people_password_resets WHERE person_id = $1`, [id])
  await transaction.execute(`UPDATE people SET email_verified = true, updated_at = $2 WHERE id = $1`, [
    id,
    new Date(change.atMs),
  ])
  await addIdentity(transaction, id, identity, change)
  await record(transaction, change, 'person.single_sign_on_connected', id, null, {
    before: { email, signIn: 'password' },
    after: { email, signIn: 'single sign-on', issuer: identity.issuer },
  })
  return { personId: id }
}

async function addIdentity(transaction: Queryable, personId: string, { accountId }: Identity, { atMs }: Change) {
  await transaction.execute(
    `INSERT INTO people_accounts (id, person_id, provider_id, account_id, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $5)`,
    [createUuid(atMs), personId, singleSignOnId, accountId, new Date(atMs)],
  )
}

/** The account keeps its email while another account has the new one. */
async function changeEmail(
  transaction: Queryable,
  { id, email: before }: { id: string; email: string },
  email: string,
  change: Change,
): Promise<void> {
  const changed = await transaction.execute(
    `UPDATE people SET email = $2, updated_at = $3 WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM people WHERE email = $2)`,
    [id, email, new Date(change.atMs)],
  )
  if (changed > 0)
    await record(transaction, change, 'person.updated', id, null, { before: { email: before }, after: { email } })
}

async function isInvited(transaction: Queryable, email: string, atMs: number): Promise<boolean> {
  const open = `SELECT 1 FROM people_invitations i WHERE i.email = $1 AND ${isOpenAt('$2')} LIMIT 1`
  return (await transaction.query(open, [email, new Date(atMs)])).length > 0
}

/** Groups take away only what groups have given. */
async function setOperator(transaction: Queryable, id: string, isOperator: boolean, change: Change): Promise<void> {
  const changed = await transaction.query<{ email: string }>(
    `UPDATE people SET is_operator = $2, operator_from_groups = $2, updated_at = $3
      WHERE id = $1 AND is_operator <> $2 AND ($2 OR operator_from_groups) RETURNING email`,
    [id, isOperator, new Date(change.atMs)],
  )
  for (const { email } of changed)
    await record(transaction, change, 'person.updated', id, null, {
      before: { email, isOperator: !isOperator },
      after: { email, isOperator, fromGroups: true },
    })
  if (changed.length > 0 && !isOperator) await endLinksOf(transaction, id, change)
}

/** The higher of the role that people gave and the role of the groups. Organisations that do not exist are ignored. */
async function setMemberships(
  transaction: Queryable,
  personId: string,
  wanted: GroupRoles['memberships'],
  change: Change,
): Promise<void> {
  const held = await transaction.query<{ organisationId: string; role: string; fromGroups: boolean }>(
    `SELECT organisation_id AS "organisationId", role, from_groups AS "fromGroups" FROM people_memberships
      WHERE person_id = $1 FOR UPDATE`,
    [personId],
  )
  const organisations = await transaction.query<{ id: string }>(
    `SELECT id FROM organisations WHERE id = ANY($1::uuid[])`,
    [[...wanted.keys()]],
  )
  for (const { id: organisationId } of organisations) {
    const role = wanted.get(organisationId)!
    const before = held.find((membership) => membership.organisationId === organisationId)
    const isEnough = before && (before.role === role || (!before.fromGroups && before.role === 'administrator'))
    if (!isEnough) await putMembership(transaction, { organisationId, personId, role, fromGroups: true }, change)
  }
  for (const { organisationId, role, fromGroups } of held) {
    if (!fromGroups || wanted.has(organisationId)) continue
    await transaction.execute(`DELETE FROM people_memberships WHERE organisation_id = $1 AND person_id = $2`, [
      organisationId,
      personId,
    ])
    const values = { before: { role, fromGroups }, after: null }
    await record(transaction, change, 'member.removed', personId, organisationId, values)
    if (role === 'administrator') await endLinksOf(transaction, personId, change)
  }
}
