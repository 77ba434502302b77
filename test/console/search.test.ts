import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectStatus, type TestOrganisation, type TestSpace, uploadForm } from '../harness/portico.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

/** The search over everything and the keyboard shortcuts. */

let stage: TestConsole
let organisation: TestOrganisation
let space: TestSpace
beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  organisation = await stage.portico.createOrganisation({ name: 'Northwind' })
  space = await stage.portico.createSpace(organisation, { name: 'Zoo guides' })
})
afterAll(() => stage?.stop())

const openTeam = (options = {}) =>
  stage.openAs({ email: 'keys@example.com', organisationId: organisation.id, role: 'administrator' }, options)

describe.skipIf(!hasBrowser)(`the search of the console${skipReason}`, () => {
  it('opens pages, Spaces, documents and receipts by the keyboard alone', async () => {
    const form = uploadForm('Otters eat fish.', 'otters.txt')
    expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
    const call = await fetch(`${stage.portico.url}/v1/gateway/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${organisation.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'portico/offline', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    expect(call.status).toBe(200)
    const { page } = await openTeam()
    const find = async (text: string, group: string) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').fill(text)
      const option = page.getByRole('group', { name: group, exact: true }).getByRole('option')
      await expect.poll(() => option.count()).toBe(1)
      await expectAccessible(page)
      await page.keyboard.press('Enter')
    }

    await page.goto(stage.url)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await find('zoo', 'Spaces')
    await page.waitForURL(new RegExp(`/spaces/${space.id}`))
    await find('otter', 'Documents of this Space')
    await page.waitForURL(/\/files\/[\w-]+$/)
    await find(call.headers.get('x-request-id')!, 'Receipts')
    await page.waitForURL(/\/receipts\//)
    await find('member', 'Pages')
    await page.waitForURL(/\/members$/)
    expect(stage.problems).toEqual([])
  })

  it('moves through the list with the arrow keys, and finds organisations for operators only', async () => {
    const team = await openTeam()
    await team.page.goto(stage.url)
    await team.page.getByRole('button', { name: 'Search' }).click()
    const field = team.page.getByRole('dialog').getByRole('combobox')
    const active = () => team.page.getByRole('dialog').locator('[role=option][aria-selected=true]').textContent()
    const first = await active()
    await field.press('ArrowDown')
    expect(await active()).not.toBe(first)
    await field.press('ArrowUp')
    expect(await active()).toBe(first)
    await field.fill('northwind')
    await team.page.getByText('Nothing has this name.').waitFor()

    const operator = await stage.openAs({ email: 'root@example.com' })
    await operator.page.goto(stage.url)
    await operator.page.getByRole('button', { name: 'Search' }).click()
    await operator.page.getByRole('dialog').getByRole('combobox').fill('northw')
    await operator.page.getByRole('group', { name: 'Organisations', exact: true }).getByRole('option').click()
    await operator.page.waitForURL(new RegExp(`/organisations/${organisation.id}/spaces`))
    expect(stage.problems).toEqual([])
  })

  it('has shortcuts, which stay out of fields and can be turned off', async () => {
    const { page } = await openTeam({ viewport: { width: 390, height: 844 } })
    await page.goto(`${stage.url}/organisations/${organisation.id}/spaces`)
    const search = page.getByRole('searchbox')
    await search.waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('g?m')
    expect(await search.inputValue()).toBe('g?m')
    await search.blur()
    await page.keyboard.press('g')
    await page.keyboard.press('m')
    await page.waitForURL(/\/members$/)

    await page.keyboard.press('?')
    await page.getByText('G, then U').waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await page.getByRole('switch').click()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('?')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(1)
    expect(stage.problems).toEqual([])
  })
})
