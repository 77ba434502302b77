import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

let stage: TestConsole
beforeAll(async () => {
  if (hasBrowser) stage = await startConsole()
})
afterAll(() => stage?.stop())

describe.skipIf(!hasBrowser)(`the frame of the console${skipReason}`, () => {
  it('leads a visitor to the sign-in page, and a person back to the page of the address', async () => {
    const organisation = await stage.portico.createOrganisation()
    const { page, signIn } = await stage.openWindow()
    await page.goto(`${stage.url}/organisations/${organisation.id}/spaces`)
    await page.waitForURL(/\/console\/sign-in\?returnTo=/)
    await expectAccessible(page)
    await stage.openAs({ email: 'frame@example.com', organisationId: organisation.id, role: 'administrator' })
    await signIn('frame@example.com')
    await page.getByRole('link', { name: 'Developer Tools' }).waitFor()
    expect(await page.getByRole('link', { name: 'Providers' }).count()).toBe(0)
    await expectAccessible(page)
    expect(stage.problems).toEqual([])
  })

  it('shows German, dark colours and a narrow window', async () => {
    const { page } = await stage.openAs(
      { email: 'operator@example.com' },
      { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
    )
    await page.goto(stage.url)
    await page.getByRole('button', { name: 'Navigation öffnen oder schließen' }).click()
    await page.getByRole('link', { name: 'Anbieter', exact: true }).waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    expect(stage.problems).toEqual([])
  })

  it('slides its navigation, although no style changes that the whole page inherits, and makes its first format aside', async () => {
    const { page } = await stage.openAs({ email: 'operator@example.com' })
    const worker = page.waitForEvent('worker')
    await page.goto(stage.url)
    expect((await worker).url()).toContain('intl-worker')
    const shell = page.locator('.mantine-AppShell-root:not([data-resizing])')
    const { complete, resizing } = await shell.evaluate((element) => {
      const read = () => ({
        inherited: getComputedStyle(element).getPropertyValue('--app-shell-transition-duration'),
        navigation: getComputedStyle(element.querySelector('nav')!).transitionDuration,
      })
      const complete = read()
      element.setAttribute('data-resizing', 'true')
      return { complete, resizing: read() }
    })
    expect(resizing.inherited).toBe(complete.inherited)
    expect([complete.navigation, resizing.navigation]).toEqual(['0.2s', '0s'])
  })
})

describe('the files of the console', () => {
  it('ask Chromium to compile what every page needs while it loads', () => {
    const folder = path.resolve(import.meta.dirname, '../../dist/console/assets')
    const files = readdirSync(folder).filter((name) => /^(?:frame|app|parts|data-table)-.*\.js$/.test(name))
    expect(files.length).toBeGreaterThan(3)
    for (const name of files)
      expect(readFileSync(path.join(folder, name), 'utf8'), name).toMatch(/^\/\/# allFunctionsCalledOnLoad\n/)
  })

  it('load in less than 250 KiB before lazy parts', () => {
    const folder = path.resolve(import.meta.dirname, '../../dist/console')
    const index = readFileSync(path.join(folder, 'index.html'), 'utf8')
    const names = [...index.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, name]) => name!)
    expect(names.length).toBeGreaterThan(2)
    const bytes = names.map(
      (name) =>
        (statSync(path.join(folder, `${name}.br`), { throwIfNoEntry: false }) ?? statSync(path.join(folder, name)))
          .size,
    )
    const total = bytes.reduce((sum, size) => sum + size, 0)
    expect(total / 1024).toBeLessThan(250)
    expect(readdirSync(path.join(folder, 'assets')).some((name) => name.endsWith('.map'))).toBe(false)
  })
})
