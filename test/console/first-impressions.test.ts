import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestOrganisation, TestSpace } from '../harness/portico.ts'
import { expectAccessible, hasBrowser, skipReason, startConsole, type TestConsole } from './harness/console.ts'

/** What a person sees in the first minutes. */

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

const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })

describe.skipIf(!hasBrowser)(`the first minutes${skipReason}`, () => {
  it('count uploaded and rejected files, fold the finished uploads, and name the limit as it is', async () => {
    const { page } = await stage.openAs({ email: 'ada@example.com', organisationId: organisation.id, role: 'member' })
    await page.goto(`${stage.url}/organisations/${organisation.id}/spaces/${space.id}/files`)
    await page.getByText('No files yet').waitFor()
    await page.locator('svg[data-drawing=open]').waitFor()
    await page.getByText('100 MiB').first().waitFor()
    const input = page.locator('input[type=file]:not([webkitdirectory])')
    await input.setInputFiles([file('a.txt', 'one'), file('b.txt', 'two'), file('c.exe', 'three')])
    const uploads = page.getByRole('region', { name: 'Uploads' })
    await uploads.getByText('2 uploaded, 1 rejected').waitFor()
    // A rejected file needs attention, so the list stays open.
    await uploads.getByText('c.exe').waitFor()
    await uploads.getByRole('button', { name: 'Hide the uploads' }).click()
    expect(await uploads.getByText('c.exe').count()).toBe(0)
    await expectAccessible(page)
    await uploads.getByRole('button', { name: 'Clear' }).click()

    await input.setInputFiles([file('d.txt', 'four')])
    await uploads.getByText('1 file uploaded').waitFor()
    await uploads.getByRole('button', { name: 'Show the uploads' }).waitFor()
    expect(await page.getByText('No file matches').count()).toBe(0)
    expect(stage.problems).toEqual([])
  })
})
