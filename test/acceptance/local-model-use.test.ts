import { rmSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isOnnxRuntimeInstalled } from '../../src/documents/retrieval/index.ts'
import { type DatabasePlace, freshDatabasePlace, testServerUrl } from '../harness/database.ts'
import { makeHubModel, type ModelHub, startModelHub } from '../harness/model-hub.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'

/** Search by meaning with the local model, without a setting and without a restart. */

const address = '/api/semantic-search'
const skipReason = isOnnxRuntimeInstalled() ? '' : ' (skipped: npm run install:onnx)'

let hub: ModelHub
let localModel: ReturnType<typeof makeHubModel>
let place: DatabasePlace
let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace

const start = (settings = {}) =>
  startPortico({ place, settings, localModelSource: { model: localModel.model, hubUrl: hub.url } })

beforeAll(async () => {
  localModel = makeHubModel()
  hub = await startModelHub(localModel.files)
  place = await freshDatabasePlace()
  portico = await start()
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation)
  await uploadReady(organisation, space.id, 'A physician is on duty.', 'doctor.txt')
  await uploadReady(organisation, space.id, 'The automobile is in the garage.', 'car.txt')
})
afterAll(async () => {
  await portico?.stop()
  hub?.close()
  await place?.remove()
})

const view = async (by = portico) => expectStatus(await by.operator('GET', address), 200)
const choose = () => portico.operator('PUT', address, { model: 'test/tiny' })
const untilIndexed = () => expect.poll(async () => (await view()).indexing, { timeout: 30_000 }).toBeNull()
const filesOf = (by: TestPortico) => path.join(by.service.config.settings.dataFolder, 'models/test/tiny')

async function find(query: string) {
  const passages = await portico.service.retrieval.search({
    organisationId: organisation.id as never,
    spaceId: space.id as never,
    filter: null,
    query,
    limit: 1,
    signal: AbortSignal.timeout(30_000),
  })
  return passages[0]?.documentName
}

describe.skipIf(skipReason !== '')(`use of the local model${skipReason}`, () => {
  it('is refused before the model is installed', async () => {
    expect((await view()).local).toMatchObject({ hasFiles: false, hasRuntime: true })
    expect(expectStatus(await choose(), 409).error.message).toContain('Install it first')
  })

  it('begins with one request, costs nothing, and finds what shares no word with the question', async () => {
    expectStatus(await portico.operator('POST', `${address}/local-model`), 202)
    await expect.poll(async () => (await view()).local.hasFiles).toBe(true)
    expect(expectStatus(await choose(), 200)).toMatchObject({
      source: 'console',
      model: 'test/tiny',
      hasSemantics: true,
    })
    await untilIndexed()
    expect(await find('Arzt')).toBe('doctor.txt')
    expect(await find('Wagen')).toBe('car.txt')
    const usage = await portico.operator('GET', `/api/organisations/${organisation.id}/usage?by=model`)
    expect(expectStatus(usage, 200).rows).toEqual([])
  })

  it.each(['there', 'gone'])('lasts over a restart with one thread where its files are %s', async (files) => {
    await portico.stop()
    if (files === 'gone') rmSync(filesOf(portico), { recursive: true })
    portico = await start()
    expect(await find('Arzt')).toBe('doctor.txt')
    const ids = [...portico.service.embedders.all].map(({ id }) => id)
    expect(ids.filter((id) => id.startsWith('onnx:test/tiny:32:'))).toHaveLength(1)
    expect(await view()).toMatchObject({ model: 'test/tiny', indexing: null })
  })

  it('ends with one request', async () => {
    expectStatus(await portico.operator('DELETE', address), 200)
    await untilIndexed()
    expect(portico.service.embedders.current().id).toBe('hashing-1:384')
  })

  it('waits for the next start where another instance chose it and the files are missing here', async () => {
    await portico.stop()
    rmSync(filesOf(portico), { recursive: true })
    portico = await start()
    const { semanticSearchStore, changeFeed, embedders } = portico.service
    const choice = { model: 'test/tiny', dimensions: 32 }
    await semanticSearchStore.change(() => choice, { actor: { name: 'service', requestId: null }, atMs: Date.now() })
    await changeFeed.caughtUp()
    expect(await view()).toMatchObject({ model: 'test/tiny', hasSemantics: false, local: { hasFiles: false } })
    expect(embedders.current().id).toBe('hashing-1:384')
    await portico.stop()
    portico = await start()
    expect(portico.service.embedders.current().id).toMatch(/^onnx:test\/tiny:32:/)
    expectStatus(await portico.operator('DELETE', address), 200)
    await untilIndexed()
  })

  it('is fetched in its known revision where the configuration names it', async () => {
    await portico.stop()
    rmSync(filesOf(portico), { recursive: true })
    hub.requests.length = 0
    portico = await start({ embeddings: { model: 'test/tiny', kind: 'onnx' } })
    expect(portico.service.embedders.current().id).toMatch(/^onnx:test\/tiny:32:/)
    expect(hub.requests.map(({ url }) => url)).toContain('/test/tiny/resolve/abc123/config.json')
    await portico.stop()
    portico = await start()
  })

  it.skipIf(testServerUrl() === undefined)('is followed by every instance', async () => {
    await using other = await start()
    expectStatus(await choose(), 200)
    await expect.poll(() => other.service.embedders.current().id).toMatch(/^onnx:test\/tiny:32:/)
  })
})
