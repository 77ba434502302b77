import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeTinyOnnx } from '../../scripts/make-tiny-onnx.ts'
import { isOnnxRuntimeInstalled } from '../../src/documents/retrieval/index.ts'
import { type DatabasePlace, freshDatabasePlace } from '../harness/database.ts'
import {
  createApiClient,
  expectStatus,
  startPortico,
  type StartOptions,
  type TestOrganisation,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

/** Another embedding model is configured: the previous one answers until every document is embedded again. */

const models = mkdtempSync(path.join(tmpdir(), 'portico-models-'))
const former = path.join(models, 'former')
let place: DatabasePlace
let organisation: TestOrganisation
let space: TestSpace

const withModel: StartOptions = { settings: { embeddings: { kind: 'onnx', folder: former } } }
/** The built-in embedder; no document is embedded again, as if many were still waiting. */
const withoutWorkers: StartOptions = { settings: { ingestion: { workers: 0 } } }

const onnx = isOnnxRuntimeInstalled()

describe.runIf(onnx)(`another embedding model${onnx ? '' : ' (skipped: run `npm run install:onnx` first)'}`, () => {
  beforeAll(async () => {
    makeTinyOnnx(former)
    place = await freshDatabasePlace()
    await using portico = await startPortico({ ...withModel, place })
    organisation = await portico.createOrganisation()
    space = await portico.createSpace(organisation)
    for (const [name, text] of [
      ['doctor.txt', 'A physician is on duty.'],
      ['car.txt', 'The automobile is in the garage.'],
      ['dog.txt', 'The hound sleeps.'],
    ] as const) {
      const answer = await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, uploadForm(text, name))
      await waitForDocument(organisation.client, expectStatus(answer, 201).id)
    }
  })
  afterAll(async () => {
    await place?.remove()
    rmSync(models, { recursive: true, force: true })
  })

  /** The first result for a word that is in no document: only a model with semantics finds the right one. */
  async function findDoctor(options: StartOptions): Promise<string | undefined> {
    await using portico = await startPortico({ ...options, place })
    const signal = AbortSignal.timeout(30_000)
    const { id: organisationId } = organisation as never
    const passages = await portico.service.retrieval.search({
      organisationId,
      spaceId: space.id as never,
      filter: null,
      query: 'Arzt',
      limit: 1,
      signal,
    })
    return passages[0]?.documentName
  }

  it('is answered by the previous model until all documents are embedded again, and then by the new one', async () => {
    expect(await findDoctor(withModel)).toBe('doctor.txt')
    expect(await findDoctor(withoutWorkers)).toBe('doctor.txt')
    await using portico = await startPortico({ place })
    const states = async () =>
      (await portico.service.index.embeddingVersions.load()).map(
        ({ embedderId, state }) => `${embedderId.slice(0, 4)} ${state}`,
      )
    await expect.poll(states, { timeout: 30_000 }).toEqual(['hash active'])
    const { body } = await createApiClient(portico.url, organisation.apiKey)(
      'POST',
      `/v1/endpoints/${space.endpointId}/chat`,
      { messages: [{ role: 'user', content: 'Who is the physician on duty?' }] },
    )
    expect(body.references[0]).toMatchObject({ title: 'doctor.txt' })
  })

  it('starts, and uses lexical search only, when the previous model is gone', async () => {
    // Back to the model, then away from it without its files.
    {
      await using portico = await startPortico({ ...withModel, place })
      const active = async () => (await portico.service.index.embeddingVersions.load())[0]!.embedderId.slice(0, 4)
      await expect.poll(active, { timeout: 30_000 }).toBe('onnx')
    }
    renameSync(former, `${former}.gone`)
    expect(await findDoctor(withoutWorkers)).toBeUndefined()
    renameSync(`${former}.gone`, former)
    expect(await findDoctor(withoutWorkers)).toBe('doctor.txt')
  })
})
