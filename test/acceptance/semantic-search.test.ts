import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DatabasePlace, freshDatabasePlace, testServerUrl } from '../harness/database.ts'
import { type MeaningHost, startMeaningHost } from '../harness/meaning-host.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  type ApiAnswer,
  createApiClient,
  expectStatus,
  startPortico,
  type StartOptions,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'

/** Search by meaning, as operators switch it on in the console. */

const path = '/api/semantic-search'

let host: MeaningHost
let place: DatabasePlace
let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace

const start = (options: StartOptions = {}) =>
  startPortico({ ...options, settings: { ...host.settings, ...options.settings }, place })

beforeAll(async () => {
  host = await startMeaningHost()
  place = await freshDatabasePlace()
  portico = await start()
  organisation = await portico.createOrganisation({ name: 'Buyer' })
  space = await portico.createSpace(organisation)
  await upload('A physician is on duty.', 'doctor.txt')
  await upload('The automobile is in the garage.', 'car.txt')
})
afterAll(async () => {
  await portico?.stop()
  await host?.stop()
  await place?.remove()
})
afterEach(async () => {
  await turnOff()
  await untilIndexed()
})

async function upload(text: string, name: string, to = space, of = organisation) {
  await uploadReady({ client: createApiClient(portico.url, of.apiKey) }, to.id, text, name)
}

const view = async (by = portico) => expectStatus(await by.operator('GET', path), 200)
const turnOn = async (by = portico) => expectStatus(await by.operator('PUT', path, { model: 'embedder' }), 200)
const turnOff = async (by = portico) => expectStatus(await by.operator('DELETE', path), 200)
const untilIndexed = (by = portico) =>
  expect.poll(async () => (await view(by)).indexing, { timeout: 30_000 }).toBeNull()
const untilProblem = () =>
  expect.poll(async () => (await view()).indexing?.problem ?? null, { timeout: 30_000 }).not.toBeNull()
const versions = async () =>
  (await portico.service.index.embeddingVersions.load()).map(({ embedderId, state }) => `${embedderId} ${state}`)

/** The first file for a word that is in none of them. */
async function find(query: string, by = portico): Promise<string | undefined> {
  const passages = await by.service.retrieval.search({
    organisationId: organisation.id as never,
    spaceId: space.id as never,
    filter: null,
    query,
    limit: 1,
    signal: AbortSignal.timeout(30_000),
  })
  return passages[0]?.documentName
}

const usage = async () =>
  expectStatus(await portico.operator('GET', `/api/organisations/${organisation.id}/usage?by=model`), 200).rows

const refusal = ({ status, body }: ApiAnswer) => [status, body.error.param]

describe('search by meaning', () => {
  it('is offered with the price of the model and the cost of the stored texts', async () => {
    const { offers, stored, ...rest } = await view()
    expect(rest).toMatchObject({ source: null, model: null, hasSemantics: false, indexing: null })
    expect(stored.documents).toBe(2)
    const cost = (stored.tokens * 2) / 1e6
    expect(stored.tokens).toBeGreaterThan(10)
    expect(offers).toEqual([
      {
        model: 'embedder',
        providers: ['p'],
        hostings: ['us'],
        dimensions: 4,
        inputPerMillion: '2',
        cost: String(cost),
      },
    ])
  })

  it('finds what shares no word with the question, is billed to the organisation, and lasts over a restart', async () => {
    expect(await turnOn()).toMatchObject({ source: 'console', model: 'embedder', hasSemantics: true })
    await untilIndexed()
    expect(await versions()).toEqual(['provider:embedder:4 active'])
    expect(await find('Arzt')).toBe('doctor.txt')
    await expect.poll(usage).toEqual([expect.objectContaining({ model: 'embedder', promptTokens: 30 })])
    const { items } = expectStatus(await portico.operator('GET', '/api/admin-log?action=semantic_search.enabled'), 200)
    expect(items[0]).toMatchObject({ before: null, after: { model: 'embedder', dimensions: 4 } })
    await portico.stop()
    portico = await start()
    expect(await find('Auto')).toBe('car.txt')
    await upload('The hound sleeps.', 'dog.txt')
    expect(await find('Hund')).toBe('dog.txt')
    expect(await view()).toMatchObject({ source: 'console', indexing: null })
  })

  it('is switched off again, also while documents are indexed, and costs nothing then', async () => {
    const gate = Promise.withResolvers<void>()
    host.gate = gate.promise
    await turnOn()
    expect((await view()).indexing).toMatchObject({ documentsDone: 0, documentsTotal: 3 })
    expect(await turnOff()).toMatchObject({ source: null, indexing: null })
    expect(await versions()).toEqual([expect.stringMatching(/^hashing-1:384 active$/)])
    gate.resolve()
    await turnOn()
    await untilIndexed()
    await turnOff()
    await untilIndexed()
    const calls = host.upstream.requests.length
    await upload('The parrot sings.', 'parrot.txt')
    expect(await find('parrot')).toBe('parrot.txt')
    expect(host.upstream.requests).toHaveLength(calls)
  })

  it('shows whose documents wait for a budget, and continues when there is one', async () => {
    const poor = await portico.createOrganisation({ name: 'No budget', monthlyBudgetUsd: '0' })
    await upload('The hound sleeps.', 'dog.txt', await portico.createSpace(poor), poor)
    await turnOn()
    await untilProblem()
    const { indexing } = await view()
    expect(indexing).toMatchObject({ documentsDone: 4, documentsTotal: 5 })
    expect(indexing.problem.organisations).toEqual([{ id: poor.id, name: 'No budget' }])
    expect(await versions()).toEqual([expect.stringMatching(/^hashing/), 'provider:embedder:4 building'])
    expectStatus(await portico.operator('PATCH', `/api/organisations/${poor.id}`, { monthlyBudgetUsd: '5' }), 200)
    await turnOn()
    await untilIndexed()
    expect(await versions()).toEqual(['provider:embedder:4 active'])
  })

  it('refuses a model that nobody offers, and a change of what was changed since', async () => {
    const unknown = await portico.operator('PUT', path, { model: 'unknown' })
    expect(refusal(unknown)).toEqual([400, 'model'])
    const before = await view()
    await turnOn()
    const late = await portico.operator('DELETE', path, undefined, { 'if-match': `"${before.version}"` })
    expect(refusal(late)).toEqual([409, 'if-match'])
  })

  it('is not changed here while the configuration names an embedder, which wins', async () => {
    await turnOn()
    await untilIndexed()
    await portico.stop()
    portico = await start({ settings: { embeddings: { kind: 'hashing' } } })
    expect(await view()).toMatchObject({ source: 'configuration', hasSemantics: false })
    for (const answer of [
      await portico.operator('PUT', path, { model: 'embedder' }),
      await portico.operator('DELETE', path),
    ])
      expect(refusal(answer)).toEqual([409, null])
    await expect.poll(versions, { timeout: 30_000 }).toEqual(['hashing-1:384 active'])
    await portico.stop()
    portico = await start()
  })

  it.skipIf(testServerUrl() === undefined)('is followed by every instance', async () => {
    await using other = await start()
    await turnOn()
    await untilIndexed(other)
    await expect.poll(async () => (await view(other)).source).toBe('console')
    await expect.poll(() => other.service.embedders.current().id).toBe('provider:embedder:4')
    expect(await find('Arzt', other)).toBe('doctor.txt')
    await turnOff(other)
    await expect.poll(() => portico.service.embedders.current().id).toBe('hashing-1:384')
    await untilIndexed()
    expect(await versions()).toEqual(['hashing-1:384 active'])
  })
})
