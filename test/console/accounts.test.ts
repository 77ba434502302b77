import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startIdentityProvider, type TestIdentityProvider } from '../harness/identity-provider.ts'
import { testPassword } from '../harness/people.ts'
import { freePort, type TestOrganisation } from '../harness/portico.ts'
import { codeOf } from '../harness/second-factor.ts'
import {
  countRequests,
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

let stage: TestConsole
let provider: TestIdentityProvider
let team: TestOrganisation

beforeAll(async () => {
  if (!hasBrowser) return
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  provider = await startIdentityProvider({ publicUrl })
  provider.people.set('ada', { email: 'ada@example.com', email_verified: true, name: 'Ada', groups: ['platform'] })
  const { issuer, clientId } = provider
  const scopes = ['openid', 'email', 'profile', 'groups']
  const roles = [{ group: 'platform', role: 'operator' }]
  stage = await startConsole({
    settings: {
      server: { publicUrl },
      accounts: { singleSignOn: { name: 'Example login', issuer, clientId, scopes, roles } },
    },
    environment: { PORT: String(port), PORTICO_SSO_CLIENT_SECRET: provider.clientSecret },
  })
  team = await stage.portico.createOrganisation({ name: 'Search team' })
})
afterAll(async () => {
  await stage?.stop()
  await provider?.stop()
})

/** Requests that a page sends to another server than Portico and the provider, and exceptions. */
const problems = () => stage.problems.filter((problem) => !problem.includes(provider.issuer))

async function signOut(page: Page, name: string) {
  await page.getByRole('button', { name }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/\/console\/sign-in/)
}

async function fillCode(page: Page, code: string) {
  await page.getByRole('textbox', { name: 'Digit 1' }).click()
  await page.keyboard.type(code)
}

describe.skipIf(!hasBrowser)(`accounts in the console${skipReason}`, () => {
  it('are set up with the operator token, then sign out and in', async () => {
    const { page } = await stage.openWindow()
    await page.goto(stage.url)
    await page.waitForURL(/\/console\/setup/)
    await expectAccessible(page)
    await page.getByLabel('Operator token').fill('not the right token of this server')
    await page.getByLabel('Name').fill('First Operator')
    await page.getByLabel('E-mail').fill('first@example.com')
    await page.getByLabel('Password', { exact: true }).fill(testPassword)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('alert').getByText('The operator token is wrong.').waitFor()
    await page.getByLabel('Operator token').fill(stage.portico.operatorToken)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('link', { name: 'Providers', exact: true }).waitFor()
    await signOut(page, 'First Operator')
    await page.getByLabel('E-mail').fill('first@example.com')
    await page.getByLabel('Password', { exact: true }).fill('a wrong password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('alert').getByText('E-mail or password is wrong.').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Password', { exact: true }).fill(testPassword)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('link', { name: 'Providers', exact: true }).waitFor()
    expect(problems()).toEqual([])
  })

  it('accept an invitation in another browser, and appear among the members', async () => {
    const { page } = await stage.openAs({ email: 'admin@example.com', organisationId: team.id, role: 'administrator' })
    const members = `${stage.url}/organisations/${team.id}/members`
    const requests = await countRequests(page, () => page.goto(members))
    expect(requests.toSorted()).toEqual([`/api/console/organisations/${team.id}/members`, '/api/me'])
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog').getByLabel('E-mail').fill('guest@example.com')
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = await page.getByRole('dialog').getByLabel('Link', { exact: true }).inputValue()
    expect(link).toContain(`${stage.url}/invitations/`)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('cell', { name: 'guest@example.com', exact: true }).waitFor()
    await expectAccessible(page)

    const guest = await stage.openWindow({ locale: 'de-DE', viewport: { width: 390, height: 844 } })
    await guest.page.goto(link)
    await guest.page.getByText('Search team').waitFor()
    await expectAccessible(guest.page)
    await expectNoSidewaysScroll(guest.page)
    await guest.page.getByLabel('Name').fill('Gast')
    await guest.page.getByLabel('Passwort', { exact: true }).fill(testPassword)
    await guest.page.getByRole('button', { name: 'Konto anlegen und annehmen' }).click()
    await guest.page.waitForURL(new RegExp(`/organisations/${team.id}/spaces`))
    await guest.page.goto(link)
    await guest.page.getByText('Diese Einladung gilt nicht mehr').waitFor()

    await page.reload()
    await page.getByRole('cell', { name: /^Gast guest@example.com E-mail not verified/ }).waitFor()
    const role = page.getByRole('combobox', { name: 'Role of guest@example.com' })
    await role.click()
    await page.getByRole('option', { name: 'Administrator' }).click()
    await page.getByText('Saved').waitFor()
    await page.getByRole('button', { name: 'Remove guest@example.com' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await role.waitFor({ state: 'detached' })
    expect(problems()).toEqual([])
  })

  it('turn on a second factor and sign in with it, or with a backup code', async () => {
    const { page, context } = await stage.openAs({ email: 'careful@example.com', organisationId: team.id })
    const requests = await countRequests(page, () => page.goto(`${stage.url}/account`))
    expect(requests.toSorted()).toEqual(['/api/me', '/api/me/sessions'])
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('dialog').getByLabel('Current password').fill(testPassword)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
    await expectAccessible(page)
    const secret = await page.getByLabel('Or enter this key').inputValue()
    await fillCode(page, codeOf(secret))
    const list = page.getByRole('group', { name: 'Backup codes' })
    await list.waitFor()
    const codes = await list.locator('code').allTextContents()
    expect(codes.length).toBeGreaterThanOrEqual(8)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    expect((await download).suggestedFilename()).toBe('portico-backup-codes.txt')
    await page.getByRole('button', { name: 'I have stored them' }).click()
    await page.getByText('On', { exact: true }).waitFor()

    for (const enter of [
      // The code of this step was used.
      () => fillCode(page, codeOf(secret, Date.now() + 30_000)),
      async () => {
        await page.getByRole('button', { name: 'Use a backup code' }).click()
        await page.getByLabel('Backup code').fill(codes[0]!)
        await page.getByRole('button', { name: 'Verify' }).click()
      },
    ]) {
      await context.clearCookies()
      await page.goto(`${stage.url}/sign-in?returnTo=%2Faccount`)
      await page.getByLabel('E-mail').fill('careful@example.com')
      await page.getByLabel('Password', { exact: true }).fill(testPassword)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('heading', { name: 'Second factor' }).waitFor()
      await expectAccessible(page)
      await enter()
      await page.getByRole('heading', { name: 'Your account' }).waitFor()
    }
    expect(problems()).toEqual([])
  })

  it('sign in at the single sign-on provider, and read why it failed', async () => {
    const { page } = await stage.openWindow()
    await page.goto(`${stage.url}/sign-in?returnTo=%2Foperator%2Fpeople`)
    await page.getByRole('button', { name: 'Sign in with Example login' }).click()
    await page.getByLabel('Subject').fill('ada')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'People' }).waitFor()
    await page.getByRole('cell', { name: /^Ada .*ada@example.com/ }).waitFor()
    await page.getByText(provider.issuer).waitFor()
    await expectAccessible(page)
    await page.goto(`${stage.url}/account`)
    await page.getByText('You sign in with single sign-on.').waitFor()
    await signOut(page, 'Ada')
    provider.people.get('ada')!.email_verified = false
    await page.getByRole('button', { name: 'Sign in with Example login' }).click()
    await page.getByRole('alert').getByText('has not verified your e-mail').waitFor()
    await expectAccessible(page)
    expect(problems()).toEqual([])
  })

  it('become an operator when one confirms an unverified e-mail, and set a new password with a link', async () => {
    const { page } = await stage.openAs({ email: 'helper@example.com' })
    const lost = await stage.openAs({ email: 'lost@example.com', organisationId: team.id })
    await page.goto(`${stage.url}/operator/people`)
    await page.getByLabel('Search by name or e-mail').fill('LOST@')
    await page.getByRole('cell', { name: /^helper/ }).waitFor({ state: 'detached' })
    const actions = page.getByRole('button', { name: 'Actions for lost@example.com' })
    await actions.click()
    await page.getByRole('menuitem', { name: 'Make operator' }).click()
    const confirmation = page.getByRole('dialog')
    await confirmation.getByText('Nobody has verified that lost@example.com belongs').waitFor()
    await confirmation.getByRole('button', { name: 'Make operator' }).click()
    await page.getByRole('cell', { name: /^lost Operator lost@example.com E-mail not verified/ }).waitFor()
    await actions.click()
    await page.getByRole('menuitem', { name: 'Link for a new password' }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = await page.getByRole('dialog').getByLabel('Link', { exact: true }).inputValue()
    await lost.page.goto(link)
    await expectAccessible(lost.page)
    await lost.page.getByLabel('New password').fill('an entirely new password')
    await lost.page.getByRole('button', { name: 'Set password' }).click()
    await lost.page.getByText('Your password is set.').waitFor()
    await lost.page.getByRole('link', { name: 'Go to the sign-in page' }).click()
    await lost.page.waitForURL(/\/console\/sign-in/)
    await lost.page.goto(link)
    await lost.page.getByText('This link is no longer valid').waitFor()
    expect(problems()).toEqual([])
  })

  it('sign another browser out from the list of sessions', async () => {
    const here = await stage.openAs({ email: 'roaming@example.com', organisationId: team.id })
    const there = await stage.openWindow()
    await there.signIn('roaming@example.com')
    await here.page.goto(`${stage.url}/account`)
    await here.page.getByText('This browser', { exact: true }).waitFor()
    await here.page.getByRole('button', { name: 'Sign out Chrome, Linux' }).click()
    await here.page.getByText('The session has ended.').waitFor()
    await there.page.goto(`${stage.url}/account`)
    await there.page.waitForURL(/\/console\/sign-in/)
    expect(problems()).toEqual([])
  })

  it('read a clear message when the server cannot be reached', async () => {
    const { page, context } = await stage.openWindow()
    await page.goto(`${stage.url}/sign-in`)
    await page.getByLabel('E-mail').fill('first@example.com')
    await page.getByLabel('Password', { exact: true }).fill(testPassword)
    await context.setOffline(true)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
  })
})
