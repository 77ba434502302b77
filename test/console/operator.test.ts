import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectStatus, uploadForm, waitForDocument } from '../harness/portico.ts'
import {
  countRequests,
  expectAccessible,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
  type Window,
} from './harness/console.ts'

let stage: TestConsole
let operator: Window
let organisationId: string

beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  operator = await stage.openAs({ email: 'root@example.org' })
})
afterAll(() => stage?.stop())

const path = (name: string) => `${stage.url}/operator/${name}`

describe.skipIf(!hasBrowser)(`the pages of operators${skipReason}`, () => {
  it('create an organisation with plan, budget and dates, and show an error at its field', async () => {
    const { page } = operator
    await page.goto(path('organisations'))
    await page.getByText('There is no organisation yet').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'New organisation' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Northwind Research')
    await dialog.getByLabel('Monthly budget').fill('two hundred')
    await dialog.getByLabel('Ends').fill('2031-01-31T12:00')
    await dialog.getByRole('switch', { name: 'Enable the gateway' }).check()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('monthlyBudgetUsd must be US dollars').waitFor()
    expect(await dialog.getByLabel('Monthly budget').getAttribute('aria-invalid')).toBe('true')
    await expectAccessible(page)
    await dialog.getByLabel('Monthly budget').fill('200')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.waitForURL(/\/operator\/organisations\/[0-9a-f-]{36}$/)
    organisationId = page.url().split('/').at(-1)!
    await page.getByRole('heading', { name: 'Northwind Research', level: 1 }).waitFor()
    await expectAccessible(page)
    const stored = (await stage.portico.operator('GET', `/api/organisations/${organisationId}`)).body
    expect(stored).toMatchObject({ plan: 'enterprise', monthlyBudgetUsd: '200', gatewayEnabled: true })
    expect(stored.subscription.endsAt).toMatch(/^2031-01-31/)
  })

  it('save what differs with one request, and show errors of the API at their fields', async () => {
    const { page } = operator
    await page.getByLabel('Renews on day').fill('31')
    await page.getByLabel('Markup').fill('7.5')
    await page.getByText('Unsaved changes').waitFor()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('periodAnchorDay must be a day from 1 to 28.').waitFor()
    await page.getByLabel('Renews on day').fill('15')
    await page.getByLabel('Monthly budget').fill('350')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The changes are saved').waitFor()
    const stored = (await stage.portico.operator('GET', `/api/organisations/${organisationId}`)).body
    expect(stored).toMatchObject({ markupPercent: '7.5', periodAnchorDay: 15, monthlyBudgetUsd: '350' })
  })

  it('find organisations by search and order, with one data request', async () => {
    for (const name of ['Contoso', 'Fabrikam']) await stage.portico.createOrganisation({ name })
    const { page } = operator
    const requests = await countRequests(page, async () => {
      await page.goto(path('organisations?sort=name&direction=asc'))
      await page.getByRole('link', { name: 'Contoso' }).waitFor()
    })
    expect(requests.toSorted()).toEqual(['/api/console/organisations', '/api/me'])
    const names = () => page.locator('tbody tr td:first-child').allTextContents()
    await expect.poll(names).toEqual(['Contoso', 'Fabrikam', 'Northwind Research'])
    await page.getByRole('button', { name: 'Name' }).click()
    await expect.poll(names).toEqual(['Northwind Research', 'Fabrikam', 'Contoso'])
    await page.getByLabel('Search').fill('north')
    await expect.poll(names).toEqual(['Northwind Research'])
    await expectAccessible(page)
    await page.getByLabel('Search').fill('nothing like it')
    await page.getByText('No organisation matches').waitFor()
  })

  it('show in the audit who changed what, with the values before and after, and export it', async () => {
    const { page } = operator
    await page.goto(path(`audit?organisationId=${organisationId}`))
    await page.getByRole('button', { name: /Organisation changed/ }).click()
    const diff = page.getByRole('table')
    await expect
      .poll(async () => (await diff.locator('tbody tr').allTextContents()).toSorted())
      .toEqual(['markupPercent− 0+ 7.5', 'monthlyBudgetUsd− 200+ 350', 'periodAnchorDay− 1+ 15'])
    await page.getByText('root@example.org').first().waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Export' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'JSON Lines' }).click(),
    ])
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).action)).toEqual(['organisation.created', 'organisation.updated'])
    await page.getByRole('combobox', { name: 'Action' }).click()
    await page.getByRole('option', { name: 'Organisation created' }).click()
    await page.waitForURL(/action=organisation\.created/)
    await expect.poll(() => page.getByRole('button', { name: /Organisation changed/ }).count()).toBe(0)
    await page.getByRole('button', { name: /Organisation created/ }).waitFor()
  })

  it('show the failed document of an upload on the page of the system, which refreshes itself', async () => {
    const { page } = operator
    await page.goto(path('system'))
    await page.getByText('No document has failed.').waitFor()
    const organisation = await stage.portico.createOrganisation({ name: 'Uploader' })
    const space = await stage.portico.createSpace(organisation)
    const file = uploadForm('%PDF-1.7 this is no document', 'broken.pdf')
    const { id } = expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, file), 201)
    expect((await waitForDocument(organisation.client, id)).status).toBe('failed')
    await page.getByRole('link', { name: 'broken.pdf' }).waitFor()
    await page.getByRole('link', { name: 'Uploader' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Check consistency' }).click()
    await page.getByRole('dialog').getByText('No findings').waitFor()
    await page.keyboard.press('Escape')
  })

  it('delete an organisation only after its name is typed', async () => {
    const { page } = operator
    await page.goto(path(`organisations/${organisationId}`))
    await page.getByRole('button', { name: 'Delete…' }).click()
    const dialog = page.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Delete' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('Northwind Research')
    await confirm.click()
    await page.waitForURL(/\/operator\/organisations$/)
    expect((await stage.portico.operator('GET', `/api/organisations/${organisationId}`)).status).toBe(404)
    expect(stage.problems).toEqual([])
  })
})

describe.skipIf(!hasBrowser)(`people who are no operators${skipReason}`, () => {
  it('see neither the pages nor their entries in the navigation; administrators see their activity', async () => {
    const { id } = await stage.portico.createOrganisation({ name: 'Team' })
    const { page } = await stage.openAs({ email: 'admin@example.org', organisationId: id, role: 'administrator' })
    for (const name of ['organisations', 'audit', 'system']) {
      await page.goto(path(name))
      await page.getByText('Your role does not allow this').waitFor()
      expect(await page.getByRole('link', { name: 'System' }).count()).toBe(0)
    }
    await expectAccessible(page)
    await page.goto(`${stage.url}/organisations/${id}/activity`)
    await page.getByRole('button', { name: /Organisation created/ }).waitFor()
    await page.getByRole('button', { name: /API key created/ }).click()
    await page.getByText('lastFour').waitFor()
    await expectAccessible(page)
    expect(stage.problems).toEqual([])
  })
})
