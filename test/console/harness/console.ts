import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished, TestRunner } from 'vitest'
import { chromiumOptions, hasBrowser } from '../../harness/chromium.ts'
import { createPerson, testPassword } from '../../harness/people.ts'
import { startPortico, type StartOptions, type TestPortico } from '../../harness/portico.ts'

export { hasBrowser }

/** Browser suites are skipped with this reason where Chromium is missing. */
export const skipReason = hasBrowser ? '' : ' (skipped: there is no Chromium at /usr/bin/chromium)'

export interface Window {
  page: Page
  context: BrowserContext
  /** Signs in on the sign-in page. */
  signIn(email: string): Promise<void>
}

export interface TestConsole {
  portico: TestPortico
  /** The address of the console. */
  url: string
  /** Opens a window that shares nothing with the others. It closes at the end of the test, or of the file if no test opened it. */
  openWindow(options?: BrowserContextOptions): Promise<Window>
  /**
   * Opens a window in which a person is signed in. The first window of an e-mail address creates the account. Without an organisation it is an
   * operator.
   */
  openAs(
    person: { email: string; organisationId?: string; role?: 'administrator' | 'member' },
    options?: BrowserContextOptions,
  ): Promise<Window>
  /** Errors of pages since the start: exceptions, violations of the Content-Security-Policy, requests to other servers. */
  problems: string[]
  stop(): Promise<void>
}

let browser: Promise<Browser> | undefined

/** The browser of all files that this worker process runs: a start takes two seconds of processor time. Playwright ends it with the process. */
const sharedBrowser = () => (browser ??= chromium.launch(chromiumOptions))

/** Starts the service. Every window has a 1280 × 800 page, unless its options state another size. */
export async function startConsole(options: StartOptions = {}): Promise<TestConsole> {
  const [portico, { newContext, closeContexts }] = await Promise.all([startPortico(options), openContexts()])
  const problems: string[] = []
  const cookies = new Map<string, string>()
  const openWindow = async (contextOptions?: BrowserContextOptions): Promise<Window> => {
    const context = await newContext(contextOptions)
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    watchProblems(page, portico.url, problems)
    return { page, context, signIn: (email) => signInOnPage(page, portico.url, email) }
  }
  return {
    portico,
    url: `${portico.url}/console`,
    openWindow,
    async openAs(person, contextOptions) {
      const { email } = person
      if (!cookies.has(email)) cookies.set(email, (await createPerson(portico, person)).cookie())
      const window = await openWindow(contextOptions)
      await window.context.addCookies(
        cookies
          .get(email)!
          .split('; ')
          .map((pair) => ({
            name: pair.slice(0, pair.indexOf('=')),
            value: pair.slice(pair.indexOf('=') + 1),
            url: portico.url,
          })),
      )
      return window
    },
    problems,
    async stop() {
      await closeContexts()
      await portico.stop()
    },
  }
}

/** Contexts of the shared browser share no cookie, storage or cache. Open pages would take processor time from the tests that follow. */
async function openContexts() {
  const shared = await sharedBrowser()
  const contexts = new Set<BrowserContext>()
  return {
    async newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
      const context = await shared.newContext({
        locale: 'en-GB',
        viewport: { width: 1280, height: 800 },
        ...options,
      })
      contexts.add(context)
      if (TestRunner.getCurrentTest()) onTestFinished(() => context.close())
      return context
    },
    closeContexts: () => Promise.all([...contexts].map((context) => context.close())),
  }
}

function watchProblems(page: Page, url: string, problems: string[]): void {
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content.Security.Policy/i.test(message.text())) problems.push(message.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(?:data|blob):/.test(request.url()))
      problems.push(`foreign request: ${request.url()}`)
  })
}

async function signInOnPage(page: Page, url: string, email: string): Promise<void> {
  await page.goto(`${url}/console/sign-in`)
  await fillSignIn(page, email)
  await page.getByRole('navigation').first().waitFor()
}

/** Signs a person of the tests in on the sign-in page that is open. */
export async function fillSignIn(page: Page, email: string): Promise<void> {
  await page.locator('input[name=email]').fill(email)
  await page.locator('input[name=password]').fill(testPassword)
  await page.locator('button[type=submit]').click()
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResult {
  violations: { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] }[]
}

/** Fails on every serious or critical accessibility finding of axe that the page does not lose within three seconds. */
export async function expectAccessible(page: Page): Promise<void> {
  // A dialog may be about to fade in or out.
  await expect.poll(() => findSerious(page), { timeout: 3_000, interval: 300 }).toEqual([])
}

async function findSerious(page: Page): Promise<string[]> {
  // A dialog that fades in has the contrast of its backdrop.
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().iterations !== Infinity)
        .map(({ finished }) => finished),
    ).then(() => undefined),
  )
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource)
  const { violations } = (await page.evaluate('axe.run()')) as AxeResult
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  return serious.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`).join('; ')}`,
  )
}

/** Fails if the page scrolls sideways. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const { content, window } = await page.evaluate(() => ({
    content: document.documentElement.scrollWidth,
    window: document.documentElement.clientWidth,
  }))
  expect(content).toBeLessThanOrEqual(window)
}

/** The data requests (below /api and /v1) that a page sends while `act` runs and until the network is quiet. */
export async function countRequests(page: Page, act: () => Promise<unknown>): Promise<string[]> {
  const seen: string[] = []
  const note = (request: { url(): string }) => {
    const { pathname } = new URL(request.url())
    if (/^\/(?:api|v1)\//.test(pathname)) seen.push(pathname)
  }
  page.on('request', note)
  await act()
  // On a busy machine the network is quiet for long before the first request: the page has its heading when its data is there.
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForLoadState('networkidle')
  page.off('request', note)
  return seen
}
