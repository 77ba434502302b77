import { expect, it } from 'vitest'
import type { Erasure } from '../../src/contract/erasures.ts'
import { silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import { freshDatabasePlace } from '../harness/database.ts'
import { insertDocumentRows } from '../harness/document-rows.ts'
import { openDatabases } from '../harness/statements.ts'
import { createApiClient, expectStatus, startSeparatePortico } from '../harness/portico.ts'

/** Work on many rows in the background, whose process is killed. On a server its lease expires 30 s after the last renewal. */

it('an operation on many documents whose process is killed continues after the next start', async () => {
  const place = await freshDatabasePlace()
  const before = await startSeparatePortico({ place })
  const owner = await before.createOrganisation()
  const { id: spaceId } = await before.createSpace(owner)
  await before.stop()
  const databases = await openDatabases({ ...place, clock: systemClock, log: silentLog })
  await insertDocumentRows(databases.corpus, { organisationId: owner.id, spaceId, count: 3000 })
  await databases.close()
  let running = await startSeparatePortico({ place })
  const page = async () => expectStatus(await running.operator('GET', `/api/spaces/${spaceId}/documents?limit=1`), 200)
  expectStatus(await running.operator('POST', `/api/spaces/${spaceId}/documents/delete`, { filter: {} }), 202)
  await expect.poll(async () => (await page()).total, { interval: 20, timeout: 30_000 }).toBeLessThan(3000)
  await running.kill('SIGKILL')
  running = await startSeparatePortico({ place })
  const { total, operations } = await page()
  expect(total).toBeGreaterThan(0)
  expect(operations).toMatchObject([{ total: 3000 }])
  // Only a minute without progress is a fault, not a busy machine.
  for (let left = total; left > 0; left = (await page()).total) {
    await expect.poll(async () => (await page()).total, { interval: 500, timeout: 60_000 }).toBeLessThan(left)
  }
  await expect.poll(async () => (await page()).operations).toEqual([])
  await running.stop()
  await place.remove()
}, 300_000)

it('an erasure whose process is killed after it was accepted is left to the next one', async () => {
  const place = await freshDatabasePlace()
  const first = await startSeparatePortico({ place })
  const { id: organisationId, apiKey, client } = await first.createOrganisation()
  const space = await first.createSpace(
    { id: organisationId, apiKey, client },
    { settings: { keepConversations: true } },
  )
  const question = { messages: [{ role: 'user', content: 'What is a Diplodocus?' }] }
  const chat = `/v1/endpoints/${space.endpointId}/chat`
  expectStatus(await createApiClient(first.url, apiKey)('POST', chat, question, { 'service-user': 'visitor-x' }), 200)
  const conversations = `/api/spaces/${space.id}/conversations`
  const stored = async () => expectStatus(await first.operator('GET', conversations), 200).items.length as number
  await expect.poll(stored, { timeout: 30_000 }).toBe(1)
  const path = `/api/organisations/${organisationId}/erasures`
  const { id } = expectStatus(await first.operator('POST', path, { user: 'visitor-x' }), 202)
  await first.kill('SIGKILL')
  const second = await startSeparatePortico({ place })
  const found = async () => expectStatus(await second.operator('GET', `${path}/${id}`), 200) as Erasure
  expect((await found()).state).toBe('running')
  await expect.poll(async () => (await found()).state, { timeout: 90_000, interval: 500 }).toBe('completed')
  expect((await found()).certificate?.removed.conversationTurns?.count).toBe(1)
  expect(expectStatus(await second.operator('GET', conversations), 200).items).toEqual([])
  await second.stop()
  await place.remove()
}, 240_000)
