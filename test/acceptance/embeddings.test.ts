import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeTinyOnnx } from '../../scripts/make-tiny-onnx.ts'
import { isOnnxRuntimeInstalled } from '../../src/documents/retrieval/index.ts'
import { freshDatabasePlace } from '../harness/database.ts'
import {
  createApiClient,
  expectStatus,
  removeFolder,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

const text = 'The physician will see you on Monday. Bring cash for the automobile park.'

async function uploadAndAsk(portico: TestPortico, organisation: TestOrganisation, question: string) {
  const space = await portico.createSpace(organisation, { settings: { wholeSpaceTokens: 0 } })
  const form = uploadForm(text, 'notes.txt')
  const { id } = expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
  const document = await waitForDocument(organisation.client, id)
  const answer = await ask(organisation, space.endpointId, question)
  return { document, answer, space }
}

async function ask(organisation: TestOrganisation, endpointId: string, question: string) {
  const body = { messages: [{ role: 'user', content: question }] }
  return expectStatus(await organisation.client('POST', `/v1/endpoints/${endpointId}/chat`, body), 200)
}

/** An embeddings endpoint of the compatible API whose vectors depend on the text's length only. */
function startEmbeddingUpstream(): Promise<Upstream> {
  return startUpstream(({ path: target, body }) => {
    if (!target.endsWith('/embeddings')) return { status: 404, body: '{}' }
    const { input } = JSON.parse(body) as { input: string[] }
    const data = input.map((one, index) => ({
      object: 'embedding',
      index,
      embedding: Array.from({ length: 32 }, (_, dimension) => Math.sin(one.length + dimension)),
    }))
    const usage = { prompt_tokens: 7 * input.length, total_tokens: 7 * input.length }
    return {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ object: 'list', data, model: 'embed-1', usage }),
    }
  })
}

const providerSettings = (url: string) => ({
  providers: [{ id: 'embedder', flavour: 'generic', baseUrl: `${url}/v1`, apiKey: 'sk-test', hosting: 'us' }],
  models: [
    {
      id: 'embed-1',
      kind: 'embedding',
      dimensions: 32,
      contextTokens: 8192,
      deployments: [{ provider: 'embedder', prices: { input: '0.02' } }],
    },
  ],
})

const onnx = isOnnxRuntimeInstalled()

describe.runIf(onnx)(`a local ONNX model${onnx ? '' : ' (skipped: run `npm run install:onnx` first)'}`, () => {
  it('indexes documents and finds them by meaning, not by spelling', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'portico-onnx-'))
    makeTinyOnnx(folder)
    await using portico = await startPortico({ settings: { embeddings: { folder } } })
    expect(portico.describe()).toContain('local model')
    const organisation = await portico.createOrganisation()
    const question = 'doctor vehicle money'
    const { document, space } = await uploadAndAsk(portico, organisation, question)
    expect(document).toMatchObject({ status: 'ready' })
    const messages = [{ role: 'user', content: question }]
    const found = expectStatus(await portico.operator('POST', `/api/spaces/${space.id}/search`, { messages }), 200)
    // No word is shared. The offline model compares words, so it does not quote the passage.
    expect(found.candidates).toMatchObject([{ documentId: document.id, outcome: 'used', lexical: null }])
    expect(found.candidates[0].vector.score).toBeGreaterThan(0)
    await removeFolder(folder)
  })
})

describe("a provider's embeddings", () => {
  it('are billed through the ledger to the organisation that owns the document', async () => {
    const upstream = await startEmbeddingUpstream()
    await using portico = await startPortico({
      settings: { ...providerSettings(upstream.url), embeddings: { model: 'embed-1' } },
    })
    const organisation = await portico.createOrganisation()
    const { document } = await uploadAndAsk(portico, organisation, 'When does the physician come?')
    expect(document).toMatchObject({ status: 'ready' })
    const today = new Date().toISOString().slice(0, 10)
    const report = expectStatus(
      await portico.operator('GET', `/api/organisations/${organisation.id}/usage?from=${today}&to=${today}&by=surface`),
      200,
    )
    const row = report.rows.find((one: { surface: string }) => one.surface === 'embeddings')
    expect(row).toMatchObject({ requests: expect.any(Number) })
    expect(row.requests).toBeGreaterThanOrEqual(2)
    await upstream.close()
  })
})

describe('another embedding model', () => {
  it('replaces the old one in the background; until then the old index answers', async () => {
    const place = await freshDatabasePlace()
    const upstream = await startEmbeddingUpstream()
    const first = await startPortico({ place })
    const organisation = await first.createOrganisation()
    const { space } = await uploadAndAsk(first, organisation, 'When does the physician come?')
    await first.stop()

    const second = await startPortico({
      place,
      settings: { ...providerSettings(upstream.url), embeddings: { model: 'embed-1' } },
    })
    const client = createApiClient(second.url, organisation.apiKey)
    const again = { ...organisation, client }
    expect((await ask(again, space.endpointId, 'When does the physician come?')).references).toHaveLength(1)
    await expect
      .poll(async () => (await second.service.index.embeddingVersions.load())[0]?.embedderId, {
        timeout: 20_000,
        interval: 100,
      })
      .toContain('embed-1')
    expect((await ask(again, space.endpointId, 'When does the physician come?')).references).toHaveLength(1)
    await second.stop()
    await upstream.close()
    await place.remove()
  })
})
