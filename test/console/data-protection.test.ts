import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectStatus, type TestOrganisation, uploadForm, waitForDocument } from '../harness/portico.ts'
import { makeTemporaryFolder } from '../harness/temporary-folder.ts'
import { expectAccessible, hasBrowser, skipReason, startConsole, type TestConsole } from './harness/console.ts'

let stage: TestConsole
let organisation: TestOrganisation
let documentId: string
let page: Page

beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  organisation = await stage.portico.createOrganisation({ name: 'Riverside Museum' })
  const space = await stage.portico.createSpace(organisation, { name: 'Visitor handbook' })
  const form = uploadForm('# Tickets\n\nA ticket costs 12 euros.', 'tickets.md')
  const uploaded = expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
  documentId = uploaded.id
  await waitForDocument(organisation.client, documentId)
  const administrator = { email: 'a@example.com', organisationId: organisation.id, role: 'administrator' } as const
  page = (await stage.openAs(administrator)).page
})
afterAll(() => stage?.stop())

const submit = () => page.locator('form').getByRole('button', { name: 'Erase' }).click()
async function confirm(): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Erase' }).click()
  await dialog.waitFor({ state: 'detached' })
}
const rowOf = (kind: string) => page.getByRole('row').filter({ hasText: kind })

describe.skipIf(!hasBrowser)(`Data protection${skipReason}`, () => {
  it('erases a document after a question, and shows what was removed', async () => {
    await page.goto(`${stage.url}/organisations/${organisation.id}`)
    await page.getByRole('link', { name: 'Data protection' }).click()
    await page.getByText('Nothing was erased yet.').waitFor()
    await expectAccessible(page)
    await page.getByRole('combobox', { name: 'What to erase' }).click()
    await page.getByRole('option', { name: 'Document' }).click()
    await page.getByRole('textbox', { name: 'Document ID' }).fill('tickets.md')
    await submit()
    await confirm()
    // The error of the API, at its field.
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Document ID' }).getAttribute('aria-invalid'))
      .toBe('true')
    await page.getByRole('textbox', { name: 'Document ID' }).fill(documentId)
    await submit()
    await page.getByText(`The document ${documentId} and every stored answer`).waitFor()
    await confirm()
    await rowOf('Document').getByText('Completed').waitFor()
    await rowOf('Document').getByText('1 document, 1 file').waitFor()
    await expectAccessible(page)
    const gone = await organisation.client('GET', `/v1/documents/${documentId}`)
    expect(gone.status).toBe(404)
  })

  it('erases a visitor of whom nothing is stored, too', async () => {
    await page.getByRole('combobox', { name: 'What to erase' }).click()
    await page.getByRole('option', { name: 'Visitor' }).click()
    await page.getByRole('textbox', { name: 'User' }).fill('visitor-1')
    await submit()
    await confirm()
    await rowOf('Visitor').getByText('Completed').waitFor()
    await rowOf('Visitor').getByText('Nothing was found').waitFor()
    expect(await page.getByText('visitor-1').count()).toBe(0)
  })

  it('gives the certificate as a file, and finds a changed one', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      rowOf('Document')
        .getByRole('button', { name: /^Download the certificate/ })
        .click(),
    ])
    const file = path.join(makeTemporaryFolder('certificate'), download.suggestedFilename())
    await download.saveAs(file)
    const certificate = JSON.parse(readFileSync(file, 'utf8'))
    expect(certificate).toMatchObject({
      organisationId: organisation.id,
      kind: 'document',
      removed: { files: { count: 1 } },
    })
    const choose = (chosen: string) => page.locator('input[type=file]').setInputFiles(chosen)
    await choose(file)
    await page.getByText('The certificate is genuine').waitFor()
    await expectAccessible(page)
    writeFileSync(file, JSON.stringify({ ...certificate, removed: { files: { count: 2, from: null, to: null } } }))
    await choose(file)
    await page.getByText('The certificate is not genuine').waitFor()
    writeFileSync(file, 'no JSON')
    await choose(file)
    await page.getByText('The file has no certificate.').waitFor()
  })
})
