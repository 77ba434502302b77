import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { freshDatabasePlace, serviceVariables } from '../harness/database.ts'
import {
  createApiClient,
  expectStatus,
  organisationMakers,
  spawnPortico,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

const operatorToken = 'operator-token-of-the-crash-test'

it(
  'a replacement that is killed at any moment serves the previous content until the new one is ready',
  { timeout: 180_000 },
  async () => {
    const place = await freshDatabasePlace()
    const start = () => spawnPortico(serviceVariables(place, operatorToken))
    let portico = await start()
    const makers = organisationMakers(portico.url, createApiClient(portico.url, operatorToken))
    const organisation = await makers.createOrganisation()
    const space = await makers.createSpace(organisation)
    const client = () => createApiClient(portico.url, organisation.apiKey)
    const send = (content: string) =>
      client()('POST', `/v1/documents?spaceId=${space.id}&onDuplicate=replace`, uploadForm(content, 'handbook.txt'))
    const ask = async (word: string): Promise<string[]> => {
      const question = { messages: [{ role: 'user', content: word }] }
      const answer = expectStatus(await client()('POST', `/v1/endpoints/${space.endpointId}/chat`, question), 200)
      return answer.references.map((reference: { documentId: string }) => reference.documentId)
    }
    const { id } = expectStatus(await send('About zebras.'), 201)
    await waitForDocument(client(), id)
    expectStatus(await send('The okapi of the harbour. '.repeat(8_000)), 201)
    for (const afterMs of [50, 300, 900]) {
      await wait(afterMs)
      await portico.kill('SIGKILL')
      portico = await start()
      const found = await ask('zebras')
      const { status } = expectStatus(await client()('GET', `/v1/documents/${id}`), 200)
      if (status === 'processing') expect(found).toEqual([id])
    }
    expect(await waitForDocument(client(), id)).toMatchObject({ status: 'ready' })
    expect(await ask('okapi')).toEqual([id])
    const operator = createApiClient(portico.url, operatorToken)
    const chunks = expectStatus(await operator('GET', `/api/documents/${id}/chunks?limit=500`), 200).items
    expect(chunks.filter(({ text }: { text: string }) => text.includes('zebra'))).toEqual([])
    const listed = expectStatus(await client()('GET', `/v1/documents?spaceId=${space.id}`), 200)
    expect(listed.items.map((item: { id: string }) => item.id)).toEqual([id])
    await portico.kill('SIGTERM')
    portico = await start()
    const audit = await createApiClient(portico.url, operatorToken)('GET', '/api/audit')
    expect(expectStatus(audit, 200).findings).toEqual([])
    await portico.kill('SIGTERM')
    await place.remove()
  },
)
