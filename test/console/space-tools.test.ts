import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectStatus, type TestSpace } from '../harness/portico.ts'
import { shopFile } from '../harness/tool-services.ts'
import { expectAccessible, hasBrowser, skipReason, startConsole, type TestConsole } from './harness/console.ts'

let stage: TestConsole
let space: TestSpace
let page: Page
let address: string

beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  const organisation = await stage.portico.createOrganisation({ name: 'Riverside Museum' })
  space = await stage.portico.createSpace(organisation, { name: 'Visitor handbook' })
  address = `${stage.url}/organisations/${organisation.id}/spaces/${space.id}/tools`
  const administrator = { email: 'a@example.com', organisationId: organisation.id, role: 'administrator' } as const
  page = (await stage.openAs(administrator)).page
})
afterAll(() => stage?.stop())

const load = async () =>
  expectStatus(await stage.portico.operator('GET', `/api/spaces/${space.id}/tools`), 200).items as unknown[]
const dialog = () => page.getByRole('dialog')

describe.skipIf(!hasBrowser)(`Tools of a Space${skipReason}`, () => {
  it('adds an OpenAPI file, ticks an operation, switches it off and deletes it', async () => {
    await page.goto(address)
    await page.getByText('No tools yet').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Add OpenAPI file' }).click()
    await dialog().getByRole('textbox', { name: 'OpenAPI file' }).fill('no file')
    await dialog().getByRole('button', { name: 'Read the file' }).click()
    // The error of the API, at its field.
    await dialog().getByText('must be an OpenAPI file').waitFor()
    await dialog().getByRole('textbox', { name: 'OpenAPI file' }).fill(shopFile)
    await dialog().getByRole('button', { name: 'Read the file' }).click()
    await dialog().getByText('3 tools', { exact: true }).waitFor()
    await dialog().getByRole('textbox', { name: 'Name' }).fill('shop')
    expect(await dialog().getByRole('textbox', { name: 'Address of the service' }).inputValue()).toBe(
      'https://shop.example/v1',
    )
    expect(await dialog().getByRole('checkbox', { name: 'deleteOrder' }).isDisabled()).toBe(true)
    await dialog().getByRole('checkbox', { name: 'getOrder' }).check()
    await expectAccessible(page)
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByText('1 of 3 tools allowed').waitFor()
    expect(await load()).toMatchObject([{ name: 'shop', enabled: true, credential: null }])
    await page.getByRole('switch', { name: 'shop is on' }).click({ force: true })
    await expect.poll(load).toMatchObject([{ enabled: false, generation: 2 }])
    await page.getByRole('button', { name: 'Delete shop' }).click()
    await dialog().getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No tools yet').waitFor()
    expect(await load()).toEqual([])
  })

  it('keeps a stored credential in a change', async () => {
    const credential = { kind: 'header', name: 'x-key', value: 'secret' }
    const shop = { kind: 'openapi', name: 'shop', url: 'https://shop.example', document: shopFile, credential }
    expectStatus(await stage.portico.operator('POST', `/api/spaces/${space.id}/tools`, shop), 201)
    await page.goto(address)
    await page.getByRole('button', { name: 'Edit shop' }).click()
    expect(await dialog().getByRole('combobox', { name: 'Credential' }).inputValue()).toBe('Keep the stored one')
    await dialog().getByRole('checkbox', { name: 'May change data', exact: true }).check()
    await dialog().getByRole('checkbox', { name: 'deleteOrder' }).check()
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(await load()).toMatchObject([{ mayChangeData: true, credential: { kind: 'header', name: 'x-key' } }])
  })
})
