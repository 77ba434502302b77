import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeTinyOnnx, tinyModelDimensions, tinyModelMaximumTokens } from '../../../../scripts/make-tiny-onnx.ts'
import { createOrganisationId, createSpaceId } from '../../../platform/kernel/index.ts'
import { createOnnxEmbedder, createRetrieval, type Embedder, isOnnxRuntimeInstalled } from '../index.ts'
import { assertOnnxRuntime } from '../onnx/onnx-runtime.ts'
import { embeddingUse } from './onnx-embedder.ts'
import { createIndexFixture } from '../testing/index-fixture.ts'

const installed = isOnnxRuntimeInstalled()
let root: string
let embedder: Embedder

beforeAll(async () => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-onnx-'))
  if (!installed) return
  makeTinyOnnx(path.join(root, 'tiny'))
  embedder = await createOnnxEmbedder({ modelFolder: path.join(root, 'tiny') })
})
afterAll(async () => {
  await embedder?.close()
  fs.rmSync(root, { recursive: true, force: true })
})

async function embed(
  texts: string[],
  purpose: 'document' | 'query' = 'document',
  signal = AbortSignal.timeout(30_000),
) {
  return embedder.embed({ texts, purpose, organisationId: createOrganisationId(), spaceId: createSpaceId(), signal })
}

function dot(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, index) => sum + value * right[index]!, 0)
}

const missing = installed ? '' : ' (skipped: run `npm run install:onnx` first)'

describe.runIf(installed)(`a local model${missing}`, () => {
  it('makes vectors of unit length that are similar for similar meanings', async () => {
    const [car, automobile, dog] = await embed(['car', 'an automobile', 'hound'])
    expect(embedder.dimensions).toBe(tinyModelDimensions)
    expect(dot(car!, car!)).toBeCloseTo(1, 5)
    expect(dot(car!, automobile!)).toBeGreaterThan(0.9)
    expect(dot(car!, dog!)).toBeLessThan(0.1)
  })

  it('gives a text the same vector alone, in a batch of padded ones, and in any order', async () => {
    const texts = Array.from({ length: 40 }, (_, index) => `${'quick dog '.repeat(index % 7)}house ${index}`)
    const together = await embed(texts)
    for (const [index, text] of texts.entries()) {
      const [alone] = await embed([text])
      expect(dot(alone!, together[index]!)).toBeCloseTo(1, 5)
    }
  })

  it('counts tokens as the model does, and cuts what is longer than its input', async () => {
    expect(embedder.countTokens('car dog')).toBe(4)
    expect(embedder.maximumTokens).toBeLessThanOrEqual(tinyModelMaximumTokens)
    const [long, same] = await embed([`${'car '.repeat(200)}${'dog '.repeat(200)}`, 'car'])
    expect(dot(long!, same!)).toBeGreaterThan(0.99)
  })

  it('does not block the event loop', async () => {
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    await embed(Array.from({ length: 400 }, () => 'quick repair of the car '.repeat(10)))
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(5)
  })

  it('does not start work for a client that has left', async () => {
    await expect(embed(['car'], 'query', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
    expect(await embed(['car'])).toHaveLength(1)
  })

  it('has an id that changes with the weights and with the prefixes', async () => {
    const folder = path.join(root, 'changed')
    makeTinyOnnx(folder)
    await using same = await opened({ modelFolder: folder, modelId: 'tiny' })
    expect(same.embedder.id).toBe(embedder.id)
    await using prefixed = await opened({ modelFolder: folder, modelId: 'tiny', family: { queryPrefix: 'query: ' } })
    expect(prefixed.embedder.id).not.toBe(embedder.id)
    const weights = path.join(folder, 'onnx/model.onnx')
    const bytes = fs.readFileSync(weights)
    bytes.writeFloatLE(0.5, bytes.indexOf(Buffer.from([0x00, 0x00, 0x80, 0x3f])))
    fs.writeFileSync(weights, bytes)
    await using retrained = await opened({ modelFolder: folder, modelId: 'tiny' })
    expect(retrained.embedder.id).not.toBe(embedder.id)
  })

  it('finds a text that shares no word with the question', async () => {
    await using fixture = await createIndexFixture({ embedder })
    await fixture.add(['The automobile is in the garage.', 'A physician is on duty.', 'The hound sleeps.'])
    const retrieval = createRetrieval({ index: fixture.index, embedder })
    const [best] = await retrieval.search({
      organisationId: fixture.organisationId,
      spaceId: fixture.spaceId,
      filter: null,
      query: 'Arzt',
      limit: 1,
      signal: AbortSignal.timeout(30_000),
    })
    expect(best?.text).toBe('A physician is on duty.')
  })

  it('names the missing files and how to get them', async () => {
    const folder = path.join(root, 'empty')
    fs.mkdirSync(folder)
    await expect(createOnnxEmbedder({ modelFolder: folder })).rejects.toThrow(
      /lacks config\.json, tokenizer\.json, onnx\/model\.onnx.*PORTICO_EMBEDDING_FOLDER/,
    )
  })

  it('explains what to do when the hub cannot be reached and the cache is empty', async () => {
    const cacheFolder = path.join(root, 'cache')
    await expect(
      createOnnxEmbedder({ modelId: 'someone/some-model', cacheFolder, allowDownload: false }),
    ).rejects.toThrow(/someone\/some-model could not be loaded.*PORTICO_EMBEDDING_FOLDER/)
  })

  it('downloads a model of the hub once, and leaves no partial file under a final name', async () => {
    const served = path.join(root, 'hub/someone/tiny')
    makeTinyOnnx(served)
    fs.renameSync(path.join(served, 'onnx/model.onnx'), path.join(served, 'onnx/model_quantized.onnx'))
    let cutWeights = true
    const requests: string[] = []
    await using hub = await startHub((request, response) => {
      const file = path.join(root, 'hub', request.url!.replace('/resolve/main/', '/'))
      requests.push(request.url!)
      if (!fs.existsSync(file)) return response.writeHead(404).end()
      if (cutWeights && file.endsWith('.onnx')) {
        response.writeHead(200, { 'content-length': 100_000 }).write('half')
        return setImmediate(() => response.destroy())
      }
      return response.end(fs.readFileSync(file))
    })
    const fetched: unknown[] = []
    const options = {
      modelId: 'someone/tiny',
      cacheFolder: path.join(root, 'downloads'),
      hubUrl: hub.url,
      fetch: ((...given: Parameters<typeof fetch>) => (fetched.push(given), fetch(...given))) as typeof fetch,
    }
    await expect(createOnnxEmbedder(options)).rejects.toThrow(
      /someone\/tiny could not be loaded.*PORTICO_EMBEDDING_FOLDER/,
    )
    const weights = path.join(options.cacheFolder, 'someone/tiny/onnx')
    expect(fs.readdirSync(weights)).toEqual([])
    cutWeights = false
    await using first = await opened(options)
    expect(first.embedder.dimensions).toBe(tinyModelDimensions)
    const asked = requests.length
    expect(fetched).toHaveLength(asked)
    await using second = await opened({ ...options, allowDownload: false })
    expect([second.embedder.id, requests.length]).toEqual([first.embedder.id, asked])
  })

  it('rejects a model id that is a path', async () => {
    const cacheFolder = path.join(root, 'cache')
    await expect(createOnnxEmbedder({ modelId: '../../etc', cacheFolder })).rejects.toThrow(/is no model id of the hub/)
  })

  it('opens a cached model of the hub without the network', async () => {
    const cacheFolder = path.join(root, 'filled')
    makeTinyOnnx(path.join(cacheFolder, 'someone/tiny'))
    await using cached = await opened({ modelId: 'someone/tiny', cacheFolder, allowDownload: false, dtype: 'fp32' })
    expect(cached.embedder.dimensions).toBe(tinyModelDimensions)
  })

  async function opened(options: Parameters<typeof createOnnxEmbedder>[0]) {
    const made = await createOnnxEmbedder(options)
    return { embedder: made, [Symbol.asyncDispose]: () => made.close() }
  }
})

it('names the command that installs the runtime where it is missing', () => {
  expect(() => assertOnnxRuntime(embeddingUse, 'onnxruntime-that-is-not-installed')).toThrow(
    /needs the package.*`npm run install:onnx`/,
  )
})

async function startHub(answer: http.RequestListener) {
  const server = http.createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
