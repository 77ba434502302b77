import { readFileSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DatabasePlace, freshDatabasePlace, testServerUrl } from '../harness/database.ts'
import { type ModelHub, sendHalf, startModelHub, tinyFiles, tinyModel } from '../harness/model-hub.ts'
import { expectStatus, startPortico, type TestPortico } from '../harness/portico.ts'

/** The console fetches the local model for search by meaning. */

const address = '/api/semantic-search/local-model'
const weights = tinyFiles['onnx/model.onnx']

let hub: ModelHub
let place: DatabasePlace
let portico: TestPortico

const start = () => startPortico({ place, localModelSource: { model: tinyModel, hubUrl: hub.url } })

beforeAll(async () => {
  hub = await startModelHub()
  place = await freshDatabasePlace()
  portico = await start()
})
afterEach(() => {
  hub.intercept = () => false
})
afterAll(async () => {
  await portico?.stop()
  hub?.close()
  await place?.remove()
})

const view = async (by = portico) => expectStatus(await by.operator('GET', '/api/semantic-search'), 200).local
const begin = async (by = portico) => expectStatus(await by.operator('POST', address), 202).local
const state = async () => (await view()).install?.state
const untilHalf = () => expect.poll(async () => (await view()).install.bytesDone).toBe(2 + weights.length / 2)

describe('the local model', () => {
  it('shows its progress, is fetched once at a time, and is continued after a stop', async () => {
    expect(await view()).toMatchObject({ model: 'test/tiny', licence: 'MIT', bytes: 400_002, install: null })
    const ended = new Promise((resolve) => {
      hub.intercept = (request, response) => sendHalf(request, response) && Boolean(response.on('close', resolve))
    })
    expect((await begin()).install).toMatchObject({ state: 'running', bytesDone: 0, problem: null })
    await untilHalf()
    expectStatus(await portico.operator('POST', address), 409)
    expect(expectStatus(await portico.operator('DELETE', address), 200).local.install.state).toBe('stopped')
    await ended
    hub.intercept = () => false
    await begin()
    await expect.poll(state).toBe('done')
    expect(hub.requests.at(-1)!.range).toBe(`bytes=${weights.length / 2}-`)
    const { folder, bytesDone } = (await view()).install
    expect(bytesDone).toBe(400_002)
    expect(folder).toBe(path.join(portico.service.config.settings.dataFolder, 'models/test/tiny'))
    expect(readFileSync(path.join(folder, 'onnx/model.onnx'), 'utf8')).toBe(weights)
  })

  it('takes files that are there, without a request', async () => {
    const before = hub.requests.length
    await begin()
    await expect.poll(state).toBe('done')
    expect(hub.requests).toHaveLength(before)
  })

  it('states why it failed', async () => {
    const { folder } = (await view()).install
    rmSync(path.join(folder, 'onnx/model.onnx'))
    hub.intercept = (_request, response) => Boolean(response.writeHead(503).end())
    await begin()
    await expect.poll(state).toBe('failed')
    expect((await view()).install.problem).toMatch(/^the hub returned 503 for http/)
  })

  it('has failed without a reason when its instance ends', async () => {
    hub.intercept = sendHalf
    await begin()
    await untilHalf()
    await portico.stop()
    portico = await start()
    expect((await view()).install).toMatchObject({ state: 'failed', problem: null, bytesDone: 2 + weights.length / 2 })
  })

  it.skipIf(testServerUrl() === undefined)('is shown and stopped on every instance', async () => {
    await using other = await start()
    let response: Parameters<ModelHub['intercept']>[1] | undefined
    hub.intercept = (request, given) => sendHalf(request, (response = given))
    await begin()
    await untilHalf()
    expect((await view(other)).install.state).toBe('running')
    const closed = once(response!, 'close')
    expectStatus(await other.operator('DELETE', address), 200)
    await closed
    expect(await state()).toBe('stopped')
  })
})
