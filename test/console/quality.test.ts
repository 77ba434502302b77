import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Page, Response } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  countRequests,
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'
import { pageLabels, pages, type PageSeed, routesWithoutPage, seedPages } from './harness/pages.ts'

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

let stage: TestConsole
let seeded: PageSeed
/** Windows of an operator and of a person who is not signed in. */
let english: Record<'operator' | 'visitor', Page>
let germanWindows: Record<'operator' | 'visitor', Page>

beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  seeded = await seedPages(stage.portico)
  english = {
    operator: (await stage.openAs({ email: 'operator@example.com' })).page,
    visitor: (await stage.openWindow()).page,
  }
  germanWindows = {
    operator: (await stage.openAs({ email: 'betrieb@example.com' }, german)).page,
    visitor: (await stage.openWindow(german)).page,
  }
})
afterAll(() => stage?.stop())

describe.skipIf(!hasBrowser)(`every page of the console${skipReason}`, () => {
  it('is in the table of pages', async () => {
    const page = english.operator
    await page.goto(`${stage.url}/account`)
    // The router is there once the application has begun.
    await page.getByRole('heading', { level: 1 }).waitFor()
    const paths = await page.evaluate(() => {
      const { routesById } = (globalThis as unknown as Routed).__TSR_ROUTER__
      const leaves = Object.values(routesById).filter(({ children }) => !children)
      return leaves.map(({ fullPath }) => fullPath)
    })
    const addresses = pageLabels.map((label) => pages[label].at(seeded).split('?', 1)[0]!)
    const missing = paths.filter((path) => !addresses.some((address) => toPattern(path).test(address)))
    expect(missing.toSorted()).toEqual(routesWithoutPage)
  })

  describe.each(pageLabels)('%s', (label) => {
    const { at, isPublic, requests: expected = 1, isRefreshing, maximumKibibytes = 250 } = pages[label]
    const person = isPublic ? 'visitor' : 'operator'

    it(`loads at most ${maximumKibibytes} KiB of compressed scripts and styles, and its data once`, async () => {
      const page = english[person]
      const { viewport, colorScheme } = englishVariants[0]
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      // The page before may load its data again at any time.
      await page.goto('about:blank')
      const requests = await countRequests(page, () => expectSmallFirstLoad(page, at(seeded), maximumKibibytes))
      const all = requests.filter(isOfThePage)
      const data = isRefreshing ? [...new Set(all)] : all
      expect(data.length, data.join(' ')).toBe(expected)
    })

    // Shows the page that the test before has opened.
    it('is accessible and fits its window in English, in every width and both colour schemes', async () => {
      const page = english[person]
      for (const { name, viewport, colorScheme } of englishVariants) {
        await page.setViewportSize(viewport)
        await page.emulateMedia({ colorScheme })
        await expectGoodLayout(page, `${label}-${name}`)
      }
      expect(stage.problems).toEqual([])
    })

    it('is accessible and fits its window in German, narrow and dark', async () => {
      const page = germanWindows[person]
      await open(page, at(seeded))
      await expectGoodLayout(page, `${label}-narrow-dark`)
      expect(stage.problems).toEqual([])
    })
  })

  it('sends one data request when it is opened from another page', async () => {
    const page = english.operator
    await page.setViewportSize(englishVariants[0].viewport)
    await page.goto(stage.url + pages.members.at(seeded))
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

/** What the router leaves in the window. */
interface Routed {
  __TSR_ROUTER__: { routesById: Record<string, { fullPath: string; children?: unknown }> }
}

const toPattern = (path: string) => new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/]+').replace(/(?<=.)\/$/, '')}$`)

/** The session and the frame with its names of organisation and Space are on many pages. A document is read by ranges. */
const isOfThePage = (pathname: string) =>
  !/^\/api\/(?:me|organisations\/[^/]+|console\/spaces\/[^/]+)$|\/(?:content|events)$/.test(pathname)

async function open(page: Page, address: string): Promise<void> {
  await page.goto(stage.url + address, { waitUntil: 'networkidle' })
  await page.getByRole('heading', { level: 1 }).first().waitFor()
}

/** Opens a page, and sums the sizes that the responses with its code state: each load has all of them, from the cache or not. */
async function expectSmallFirstLoad(page: Page, address: string, maximumKibibytes: number): Promise<void> {
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
  expect(kibibytes).toBeLessThanOrEqual(maximumKibibytes)
}

async function expectGoodLayout(page: Page, name: string): Promise<void> {
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
  if (!screenshots) return
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: path.join(screenshots, `${name}.png`) })
}

/** The pdf viewer loads after the page, which shows its place. */
function isLazy(pathname: string): boolean {
  return /\/pdf-document-[\w-]+\.(?:js|css)$/.test(pathname)
}
