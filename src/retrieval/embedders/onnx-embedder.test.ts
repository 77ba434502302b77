import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeTinyOnnx, tinyModelDimensions, tinyModelMaximumTokens } from '../../../scripts/make-tiny-onnx.ts'
import { createOrganisationId, createSpaceId } from '../../kernel/index.ts'
import { createOnnxEmbedder, createRetrieval, type Embedder } from '../index.ts'
import { createIndexFixture } from '../testing/index-fixture.ts'

let root: string
let embedder: Embedder

beforeAll(async () => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-onnx-'))
  makeTinyOnnx(path.join(root, 'tiny'))
  embedder = await createOnnxEmbedder({ modelFolder: path.join(root, 'tiny') })
})
afterAll(async () => {
  await embedder.close()
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

describe('a local model', () => {
  it('makes vectors of unit length whose nearness is meaning', async () => {
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

  it('leaves the event loop free while it works', async () => {
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

  it('finds by meaning what shares no word with the question', async () => {
    await using fixture = await createIndexFixture({ embedder })
    await fixture.add(['The automobile is in the garage.', 'A physician is on duty.', 'The hound sleeps.'])
    const retrieval = createRetrieval({ index: fixture.index, embedder })
    const [best] = await retrieval.search({
      organisationId: fixture.organisationId,
      spaceId: fixture.spaceId,
      query: 'Arzt',
      limit: 1,
      signal: AbortSignal.timeout(30_000),
    })
    expect(best?.text).toBe('A physician is on duty.')
  })

  it('says which files are missing and how to get them', async () => {
    const folder = path.join(root, 'empty')
    fs.mkdirSync(folder)
    await expect(createOnnxEmbedder({ modelFolder: folder })).rejects.toThrow(
      /lacks config\.json, tokenizer\.json, onnx\/model\.onnx.*PORTICO_EMBEDDING_FOLDER/,
    )
  })

  it('says what to do when the hub cannot be reached and the cache is empty', async () => {
    const cacheFolder = path.join(root, 'cache')
    await expect(
      createOnnxEmbedder({ modelId: 'someone/some-model', cacheFolder, allowDownload: false }),
    ).rejects.toThrow(/someone\/some-model could not be loaded.*PORTICO_EMBEDDING_FOLDER/)
  })

  it('takes a model of the hub from the cache without the network', async () => {
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
