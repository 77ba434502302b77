import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startIdentityProvider, type TestIdentityProvider } from '../harness/identity-provider.ts'
import { freePort } from '../harness/portico.ts'
import {
  countRequests,
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

/** An operator sets up single sign-on, one step after another. */

let stage: TestConsole
let provider: TestIdentityProvider
let page: Page

beforeAll(async () => {
  if (!hasBrowser) return
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  provider = await startIdentityProvider({ publicUrl })
  provider.people.set('ada', { email: 'ada@example.com', email_verified: true, name: 'Ada' })
  stage = await startConsole({ settings: { server: { publicUrl } }, environment: { PORT: String(port) } })
  ;({ page } = await stage.openAs({ email: 'operator@example.com' }))
})
afterAll(async () => {
  await stage?.stop()
  await provider?.stop()
})

/** Requests that a page sends to another server than Portico and the provider, and exceptions. */
const problems = () => stage.problems.filter((problem) => !problem.includes(provider.issuer))

describe.skipIf(!hasBrowser)(`single sign-on in the console${skipReason}`, () => {
  it('is found on the page People, and shows the redirect address', async () => {
    await page.goto(`${stage.url}/operator/people`)
    await page.getByRole('link', { name: 'Set up single sign-on' }).click()
    await page.getByRole('heading', { level: 1, name: 'Single sign-on' }).waitFor()
    const requests = await countRequests(page, () => page.reload())
    expect(requests.toSorted()).toEqual(['/api/me', '/api/single-sign-on'])
    const redirect = await page.getByLabel('Redirect address').inputValue()
    expect(redirect).toBe(`${stage.portico.url}/api/auth/callback/sso`)
    await expectAccessible(page)
  })

  it('refuses an issuer without TLS, and shows why a test with a wrong secret fails', async () => {
    await page.getByLabel('Issuer').fill('http://login.example.com')
    await page.getByLabel('Client id').fill(provider.clientId)
    await page.getByLabel('Client secret').fill('not the secret')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Example login')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('must be an https address').waitFor()
    await page.getByLabel('Issuer').fill(provider.issuer)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('button', { name: 'Test sign-in' }).click()
    await page.getByLabel('Subject').fill('ada')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('The provider refuses the client id or the client secret.').waitFor()
    expect(await page.getByRole('button', { name: 'Switch on' }).isDisabled()).toBe(true)
    expect(await page.getByLabel('Client secret').inputValue()).toBe('')
    await expectAccessible(page)
  })

  it('is switched on after a test that has passed, and people can sign in', async () => {
    await page.getByLabel('Client secret').fill(provider.clientSecret)
    expect(await page.getByRole('button', { name: 'Test sign-in' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('button', { name: 'Test sign-in' }).click()
    // The provider has a session by now, and asks for nothing.
    await page.getByText('The test has passed').waitFor()
    await page.getByText('This person would get a new account.').waitFor()
    await page.getByRole('cell', { name: 'ada@example.com' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByText('These settings are in force.').waitFor()
    const visitor = await stage.openWindow()
    await visitor.page.goto(`${stage.url}/sign-in?returnTo=%2Faccount`)
    await visitor.page.getByRole('button', { name: 'Sign in with Example login' }).click()
    await visitor.page.getByLabel('Subject').fill('ada')
    await visitor.page.getByRole('button', { name: 'Continue' }).click()
    await visitor.page.getByText('You sign in with single sign-on.').waitFor()
  })

  it('shows both values of a setting that two operators changed', async () => {
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mine')
    const { issuer, clientId } = provider
    const changed = await stage.portico.operator('PUT', '/api/single-sign-on', { name: 'Theirs', issuer, clientId })
    expect(changed.status).toBe(200)
    await page.getByRole('button', { name: 'Save changes' }).click()
    const conflict = page.getByRole('dialog')
    for (const value of ['Mine', 'Theirs']) await conflict.getByRole('cell', { name: value }).waitFor()
    await conflict.getByRole('button', { name: 'Use theirs' }).click()
    await expect.poll(() => page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Theirs')
  })

  it('is switched off again, and fits a narrow window in German', async () => {
    await page.getByRole('button', { name: 'Switch off' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click()
    await page.getByText('Single sign-on is off.').waitFor()
    const narrow = await stage.openAs(
      { email: 'operator@example.com' },
      { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
    )
    await narrow.page.goto(`${stage.url}/operator/single-sign-on`)
    await narrow.page.getByText('Anmeldung testen').waitFor()
    await expectAccessible(narrow.page)
    await expectNoSidewaysScroll(narrow.page)
    expect(problems()).toEqual([])
  })
})
