import path from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectStatus, type TestOrganisation, type TestSpace, uploadForm, waitForDocument } from '../harness/portico.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

/** Filters by metadata: the setting that requires them, the chat and the search that then need values, and the list of files. */

const screenshots = process.env['PORTICO_SCREENSHOTS']

let stage: TestConsole
let organisation: TestOrganisation
let space: TestSpace
let page: Page

beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  organisation = await stage.portico.createOrganisation()
  space = await stage.portico.createSpace(organisation)
  await upload('acme.md', 'A ticket costs 12 euros for Acme.', { customer: 'acme', year: 2024 })
  await upload('corvo.md', 'A ticket costs 9 euros for Corvo.', { customer: 'corvo', year: 2023 })
  const person = { email: 'admin@example.com', organisationId: organisation.id, role: 'administrator' } as const
  ;({ page } = await stage.openAs(person))
})
afterAll(() => stage?.stop())

async function upload(name: string, text: string, metadata: object) {
  const form = uploadForm(text, name, { metadata: JSON.stringify(metadata) })
  const { id } = expectStatus(await organisation.client('POST', `/v2/documents?spaceId=${space.id}`, form), 201)
  expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
}

const open = (name: string) => page.goto(`${stage.url}/organisations/${organisation.id}/spaces/${space.id}/${name}`)
const keep = async (name: string) => {
  if (screenshots) await page.screenshot({ path: path.join(screenshots, `filters-${name}.png`) })
}

describe.skipIf(!hasBrowser)(`Filters by metadata${skipReason}`, () => {
  it('restrict the list of files, as chips and in the address', { timeout: 60_000 }, async () => {
    await open('files')
    await page.getByRole('button', { name: 'Filter by metadata' }).click()
    const field = page.getByRole('textbox', { name: 'Metadata, such as customer = acme' })
    await field.fill('customer')
    await field.press('Enter')
    await page.getByText('Write field = value, or field >= value').waitFor()
    await field.fill('year >= 2024')
    await field.press('Enter')
    await page.getByText('year ≥ 2024').waitFor()
    await page.getByRole('link', { name: 'corvo.md' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'acme.md' }).waitFor()
    await keep('files')
    await page.reload()
    await page.getByText('year ≥ 2024').waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
    await keep('files-narrow')
    await page.getByRole('button', { name: 'Without the filter year' }).click()
    await page.getByRole('link', { name: 'corvo.md' }).waitFor()
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  it('are required by a setting; chat and search then ask for the values', { timeout: 60_000 }, async () => {
    await open('settings')
    const fields = page.getByLabel('Required fields of the metadata').first()
    await fields.fill('customer')
    await fields.press('Enter')
    await keep('settings')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Settings saved').waitFor()

    await open('chat')
    await page.getByRole('textbox', { name: 'Question' }).fill('What does a ticket cost?')
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
    await page.getByRole('textbox', { name: 'customer' }).fill('acme')
    await keep('chat')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('12 euros').first().waitFor()
    expect(await page.getByText('9 euros').count()).toBe(0)
    await page.setViewportSize({ width: 390, height: 844 })
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
    await keep('chat-narrow')
    await page.setViewportSize({ width: 1280, height: 900 })

    await open('search')
    await page.getByRole('textbox', { name: 'Question' }).fill('What does a ticket cost?')
    await page.getByRole('textbox', { name: 'customer' }).fill('corvo')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText('9 euros').first().waitFor()
    expect(await page.getByText('12 euros').count()).toBe(0)
    await keep('search')
  })
})
