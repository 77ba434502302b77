import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testPassword } from '../harness/people.ts'
import type { TestOrganisation, TestSpace } from '../harness/portico.ts'
import { expectAccessible, hasBrowser, skipReason, startConsole, type TestConsole } from './harness/console.ts'

/** A session that expires during work. */

let stage: TestConsole
let organisation: TestOrganisation
let space: TestSpace
beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  organisation = await stage.portico.createOrganisation()
  space = await stage.portico.createSpace(organisation, { name: 'Handbook', instructions: 'Answer briefly.' })
})
afterAll(() => stage?.stop())

const email = 'editor@example.com'
const open = async () => {
  const window = await stage.openAs({ email, organisationId: organisation.id, role: 'administrator' })
  await window.page.goto(`${stage.url}/organisations/${organisation.id}/spaces/${space.id}/settings`)
  await window.page.getByRole('textbox', { name: 'Instructions' }).fill('Answer in one sentence.')
  await window.context.clearCookies()
  await window.page.getByRole('button', { name: 'Save changes' }).click()
  return window
}

describe.skipIf(!hasBrowser)(`an expired session${skipReason}`, () => {
  it('is renewed in a dialog, and the change is saved without typing it again', async () => {
    const { page } = await open()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByText('Nothing you typed is lost.').waitFor()
    await expectAccessible(page)
    expect(await dialog.getByLabel('E-mail').inputValue()).toBe(email)
    await dialog.locator('input[name=password]').fill('a wrong password')
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.locator('input[name=password]').fill(testPassword)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Settings saved').waitFor()
    expect(await dialog.count()).toBe(0)
    const { body } = await stage.portico.operator('GET', `/api/spaces/${space.id}`)
    expect(body.instructions).toBe('Answer in one sentence.')
    expect(stage.problems).toEqual([])
  })
})

describe.skipIf(!hasBrowser)(`unsaved changes${skipReason}`, () => {
  it('of an organisation and of golden questions are kept until the person decides', async () => {
    const { page } = await stage.openAs({ email: 'operator@example.com' })
    const pages: [address: string, label: string][] = [
      [`/operator/organisations/${organisation.id}`, 'Monthly budget'],
      [`/organisations/${organisation.id}/spaces/${space.id}/golden-questions/settings`, 'Cost limit per run'],
    ]
    for (const [address, label] of pages) {
      await page.goto(stage.url + address)
      const field = page.getByRole('textbox', { name: label })
      await field.fill('77')
      await page.getByRole('link', { name: 'Models' }).first().click()
      const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
      await dialog.getByRole('button', { name: 'Stay' }).click()
      expect(await field.inputValue()).toContain('77')
      await page.getByRole('link', { name: 'Models' }).first().click()
      await dialog.getByRole('button', { name: 'Leave', exact: true }).click()
      await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
    }
    expect(stage.problems).toEqual([])
  })
})
