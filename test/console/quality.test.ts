import { mkdirSync } from 'node:fs'
import path from 'node:path'
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
  type Window,
} from './harness/console.ts'
import { type Seed, seed } from './harness/seed.ts'

/** Bounds of every page: one data request, no serious accessibility finding, no sideways scrolling, every width and colour scheme. */

/** `PORTICO_SCREENSHOTS=FOLDER` keeps an image of every page in every variant. */
const screenshots = process.env['PORTICO_SCREENSHOTS']

const variants = [
  { name: 'wide-light', locale: 'en-GB', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: 'narrow-dark', locale: 'de-DE', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
  { name: 'huge-dark', locale: 'en-GB', colorScheme: 'dark', viewport: { width: 2560, height: 1440 } },
  { name: 'narrow-light', locale: 'en-GB', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const

const labels = [
  'account',
  'developer-tools',
  'playground',
  'receipt',
  'published-spaces',
  'published-space',
  'members',
  'data-protection',
  'spaces',
  'settings',
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
  'people',
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
    members: `${team}/members`,
    'data-protection': `${team}/data-protection`,
    spaces: `${team}/spaces`,
    settings: `${team}/spaces/${space.id}/settings`,
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
    people: '/operator/people',
    system: '/operator/system',
    audit: '/operator/audit',
  }
}

let stage: TestConsole
let pages: Record<string, string>
const windows: Record<string, Window> = {}

beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  const seeded = await seed(stage.portico)
  pages = addresses(seeded)
  const organisationId = seeded.organisation.id
  const erasures = `/api/organisations/${organisationId}/erasures`
  expectStatus(await stage.portico.operator('POST', erasures, { user: 'visitor-9' }), 202)
  await createPerson(stage.portico, { email: 'member@example.com', organisationId, role: 'member' })
  for (const { name, ...options } of variants)
    windows[name] = await stage.openAs({ email: `${name}@example.com` }, options)
})
afterAll(() => stage?.stop())

describe.skipIf(!hasBrowser)(`every page of the console${skipReason}`, () => {
  it.each(labels)(
    'is accessible and fits its window, in every width, colour scheme and language: %s',
    async (label) => {
      for (const { name } of variants) {
        const { page } = windows[name]!
        await page.goto(stage.url + pages[label]!, { waitUntil: 'load' })
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => {})
        await keepScreenshot(page, `${label}-${name}`)
        await expectNoSidewaysScroll(page)
        await expectAccessible(page)
      }
      expect(stage.problems).toEqual([])
    },
  )

  it.each(['sign-in', ...labels])(
    'loads at most 250 KiB of compressed scripts and styles when it is opened first: %s',
    async (label) => {
      const window =
        label === 'sign-in' ? await stage.openWindow() : await stage.openAs({ email: 'first-load@example.com' })
      const files = new Map<string, number>()
      window.page.on('response', (response) => {
        const { pathname } = new URL(response.url())
        if (/\.(?:js|css)$/.test(pathname) && !isLazy(pathname))
          files.set(pathname, Number(response.headers()['content-length']))
      })
      await window.page.goto(stage.url + (pages[label] ?? `/${label}`), { waitUntil: 'networkidle' })
      await window.page.getByRole('heading', { level: 1 }).first().waitFor()
      await window.context.close()
      const kibibytes = [...files.values()].reduce((sum, bytes) => sum + bytes, 0) / 1024
      expect(kibibytes).toBeGreaterThan(50)
      expect(kibibytes).toBeLessThanOrEqual(250)
    },
  )

  it('sends one data request when it is opened from another page', async () => {
    const { page } = windows['wide-light']!
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

/** Charts and the pdf viewer load after the page, which shows their place. */
function isLazy(pathname: string): boolean {
  return /\/(?:pdf-document|\w+-chart|grid-chart\.module|BarChart)-[\w-]+\.(?:js|css)$/.test(pathname)
}

async function keepScreenshot(page: Window['page'], name: string): Promise<void> {
  if (!screenshots) return
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: path.join(screenshots, `${name}.png`) })
}
