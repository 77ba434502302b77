import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Page, Response } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPerson } from '../harness/people.ts'
import { expectStatus } from '../harness/portico.ts'
import {
  countRequests,
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'
import { type Seed, seed } from './harness/seed.ts'

/** Bounds of every page: size of its code, one data request, no serious accessibility finding, no sideways scrolling. */

/** `PORTICO_SCREENSHOTS=FOLDER` keeps an image of every page in every variant. */
const screenshots = process.env['PORTICO_SCREENSHOTS']

/** English pages are opened in the first of these, and then resized. */
const englishVariants = [
  { name: 'wide-light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: 'huge-dark', colorScheme: 'dark', viewport: { width: 2560, height: 1440 } },
  { name: 'narrow-light', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const
const german = { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const

const labels = [
  'account',
  'developer-tools',
  'playground',
  'receipt',
  'published-spaces',
  'published-space',
  'hosted-chat',
  'members',
  'data-protection',
  'spaces',
  'settings',
  'tools',
  'chat',
  'files',
  'document-pdf',
  'document-csv',
  'document-failed',
  'search',
  'golden-questions',
  'golden-candidates',
  'golden-runs',
  'golden-settings',
  'usage',
  'organisations',
  'organisation',
  'providers',
  'deployments',
  'models',
  'model',
  'people',
  'single-sign-on',
  'semantic-search',
  'system',
  'audit',
] as const

/** The address of every page. */
function addresses({ organisation, space, documents, requestIds }: Seed): Record<(typeof labels)[number], string> {
  const team = `/organisations/${organisation.id}`
  const files = `${team}/spaces/${space.id}/files`
  return {
    account: '/account',
    'developer-tools': `${team}/developer-tools`,
    playground: `${team}/playground`,
    receipt: `${team}/receipts/${requestIds[0]}`,
    'published-spaces': `${team}/published-spaces`,
    'published-space': `${team}/published-spaces/${space.id}`,
    'hosted-chat': `${team}/published-spaces/${space.id}/hosted-chat`,
    members: `${team}/members`,
    'data-protection': `${team}/data-protection`,
    spaces: `${team}/spaces`,
    settings: `${team}/spaces/${space.id}/settings`,
    tools: `${team}/spaces/${space.id}/tools`,
    chat: `${team}/spaces/${space.id}/chat`,
    files,
    'document-pdf': `${files}/${documents['handbook.pdf']}?page=2&quote=${encodeURIComponent('30 days of paid leave')}`,
    'document-csv': `${files}/${documents['prices.csv']}`,
    'document-failed': `${files}/${documents['broken.pdf']}`,
    search: `${team}/spaces/${space.id}/search`,
    'golden-questions': `${team}/spaces/${space.id}/golden-questions`,
    'golden-candidates': `${team}/spaces/${space.id}/golden-questions/candidates`,
    'golden-runs': `${team}/spaces/${space.id}/golden-questions/runs`,
    'golden-settings': `${team}/spaces/${space.id}/golden-questions/settings`,
    usage: `${team}/usage`,
    organisations: '/operator/organisations',
    organisation: `/operator/organisations/${organisation.id}`,
    providers: '/operator/providers',
    deployments: '/operator/deployments',
    models: '/operator/models',
    model: '/operator/models/portico%2Foffline',
    people: '/operator/people',
    'single-sign-on': '/operator/single-sign-on',
    'semantic-search': '/operator/semantic-search',
    system: '/operator/system',
    audit: '/operator/audit',
  }
}

/** Pages that show nothing but their frame until a person acts. */
const withoutData: readonly string[] = ['chat', 'search']
/** Pages that soon load their data again: on a slow machine before the network is quiet. */
const refreshing: readonly string[] = ['golden-runs', 'data-protection', 'deployments', 'system']

let stage: TestConsole
let pages: Record<string, string>
let englishPage: Page
let germanPage: Page

beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  const seeded = await seed(stage.portico, 'Übersee-Handelsgesellschaft')
  pages = addresses(seeded)
  const organisationId = seeded.organisation.id
  const erasures = `/api/organisations/${organisationId}/erasures`
  expectStatus(await stage.portico.operator('POST', erasures, { user: 'visitor-9' }), 202)
  await createPerson(stage.portico, { email: 'member@example.com', organisationId, role: 'member' })
  englishPage = (await stage.openAs({ email: 'operator@example.com' })).page
  germanPage = (await stage.openAs({ email: 'betrieb@example.com' }, german)).page
})
afterAll(() => stage?.stop())

describe.skipIf(!hasBrowser)(`every page of the console${skipReason}`, () => {
  describe.each(labels)('%s', (label) => {
    it('loads at most 250 KiB of compressed scripts and styles, and its data with one request', async () => {
      const { viewport, colorScheme } = englishVariants[0]
      await englishPage.setViewportSize(viewport)
      await englishPage.emulateMedia({ colorScheme })
      // The page before may load its data again at any time.
      await englishPage.goto('about:blank')
      const requests = await countRequests(englishPage, () => expectSmallFirstLoad(englishPage, pages[label]!))
      const all = requests.filter(isOfThePage)
      const data = refreshing.includes(label) ? [...new Set(all)] : all
      expect(data.length, data.join(' ')).toBe(withoutData.includes(label) ? 0 : 1)
    })

    // Shows the page that the test before has opened.
    it('is accessible and fits its window in English, in every width and both colour schemes', async () => {
      for (const { name, viewport, colorScheme } of englishVariants) {
        await englishPage.setViewportSize(viewport)
        await englishPage.emulateMedia({ colorScheme })
        await expectGoodLayout(englishPage, `${label}-${name}`)
      }
      expect(stage.problems).toEqual([])
    })

    it('is accessible and fits its window in German, narrow and dark', async () => {
      await open(germanPage, pages[label]!)
      await expectGoodLayout(germanPage, `${label}-narrow-dark`)
      expect(stage.problems).toEqual([])
    })
  })

  it('loads at most 250 KiB of compressed scripts and styles when the sign-in page is opened first', async () => {
    const { page } = await stage.openWindow()
    await expectSmallFirstLoad(page, '/sign-in')
  })

  it('sends one data request when it is opened from another page', async () => {
    const page = englishPage
    await page.setViewportSize(englishVariants[0].viewport)
    const team = pages['developer-tools']!.replace('/developer-tools', '')
    await page.goto(`${stage.url}${team}/members`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const names = [
      'Spaces',
      'Usage',
      'Developer Tools',
      'Playground',
      'Published Spaces',
      'Organisations',
      'Providers',
      'Deployments',
      'Models',
      'People',
      'System',
      'Audit',
    ]
    for (const name of names) {
      const link = page.getByRole('navigation').getByRole('link', { name, exact: true })
      const requests = await countRequests(page, async () => {
        await link.click()
        await page.getByRole('heading', { level: 1 }).waitFor()
      })
      const data = requests.filter(
        (path) => path !== '/api/me' && path !== '/api/auth/get-session' && !path.endsWith('/events'),
      )
      expect.soft(data.length, `${name}: ${data.join(' ')}`).toBeLessThanOrEqual(1)
    }
  })
})

/** The session and the frame with its names of organisation and Space are on many pages. A document is read by ranges. */
const isOfThePage = (pathname: string) =>
  !/^\/api\/(?:me|organisations\/[^/]+|console\/spaces\/[^/]+)$|\/(?:content|events)$/.test(pathname)

async function open(page: Page, address: string): Promise<void> {
  await page.goto(stage.url + address, { waitUntil: 'networkidle' })
  await page.getByRole('heading', { level: 1 }).first().waitFor()
}

/** Opens a page, and sums the sizes that the responses with its code state: each load has all of them, from the cache or not. */
async function expectSmallFirstLoad(page: Page, address: string): Promise<void> {
  const files = new Map<string, number>()
  const note = (response: Response) => {
    const { pathname } = new URL(response.url())
    if (/\.(?:js|css)$/.test(pathname) && !isLazy(pathname))
      files.set(pathname, Number(response.headers()['content-length']))
  }
  page.on('response', note)
  await open(page, address)
  page.off('response', note)
  const kibibytes = [...files.values()].reduce((sum, bytes) => sum + bytes, 0) / 1024
  expect(kibibytes).toBeGreaterThan(50)
  expect(kibibytes).toBeLessThanOrEqual(250)
}

async function expectGoodLayout(page: Page, name: string): Promise<void> {
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
  if (!screenshots) return
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: path.join(screenshots, `${name}.png`) })
}

/** Charts and the pdf viewer load after the page, which shows their place. */
function isLazy(pathname: string): boolean {
  return /\/(?:pdf-document|\w+-chart|grid-chart\.module|BarChart)-[\w-]+\.(?:js|css)$/.test(pathname)
}
