import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeTinyCrossEncoder, makeTinyOnnx, tinyModelMaximumTokens } from '../../../../scripts/make-tiny-onnx.ts'
import { createOrganisationId, createSpaceId } from '../../../platform/kernel/index.ts'
import { createOnnxReranker, isOnnxRuntimeInstalled, type Reranker } from '../index.ts'
import { createPairEncoder } from '../onnx/encode-pair.ts'
import { readTokenizer } from '../onnx/onnx-model-files.ts'

const installed = isOnnxRuntimeInstalled()
const missing = installed ? '' : ' (skipped: run `npm run install:onnx` first)'
let root: string
let folder: string

beforeAll(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-reranker-'))
  folder = path.join(root, 'tiny')
  makeTinyCrossEncoder(folder)
})
afterAll(() => fs.rmSync(root, { recursive: true, force: true }))

describe.runIf(installed)(`a local cross-encoder${missing}`, () => {
  let reranker: Reranker
  beforeAll(async () => {
    reranker = await createOnnxReranker({ modelFolder: folder })
  })
  afterAll(() => reranker.close())

  function score(
    query: string,
    documents: string[],
    { organisationId = createOrganisationId(), signal = AbortSignal.timeout(30_000) } = {},
  ) {
    return reranker.score({ query, documents, organisationId, spaceId: createSpaceId(), timeoutMs: 30_000, signal })
  }

  it('scores each passage by what it shares with the question', async () => {
    const scores = await score('car doctor', ['automobile', 'physician automobile', 'house', 'car car car'])
    expect(scores.map(Math.round)).toEqual([1, 2, 0, 3])
    expect(await score('house', ['automobile', 'home'])).toEqual([0, 1])
  })

  it('gives a pair the same score alone, in a batch of padded ones, and in any order', async () => {
    const documents = Array.from({ length: 30 }, (_, index) => `${'quick dog '.repeat(index % 7)}house ${index}`)
    const together = await score('fast hound', documents)
    for (const [index, document] of documents.entries()) {
      expect((await score('fast hound', [document]))[0]).toBeCloseTo(together[index]!, 5)
    }
  })

  it('cuts the passage, not the question, to what the model reads', async () => {
    const [long, late] = await score('car', ['car '.repeat(500), `${'dog '.repeat(500)} car`])
    // [CLS] car [SEP] … [SEP]
    expect(long).toBe(tinyModelMaximumTokens - 4)
    expect(late).toBe(0)
    // A question that is too long loses its middle and leaves half of the room to the passage.
    const [shared] = await score(`car ${'dog '.repeat(500)} house`, ['automobile home'])
    expect(shared).toBe(2)
  })

  it('does not block the event loop, and does not start work for a client that has left', async () => {
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    await score(
      'repair',
      Array.from({ length: 100 }, () => 'quick repair of the car '.repeat(40)),
    )
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(5)
    await expect(score('car', ['car'], { signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone')
  })

  it('takes turns between organisations after each batch', async () => {
    const [busy, other] = [createOrganisationId(), createOrganisationId()]
    const order: string[] = []
    const many = Array.from({ length: 100 }, () => 'quick repair of the car '.repeat(20))
    const flood = Array.from({ length: 10 }, () =>
      score('repair', many, { organisationId: busy }).then(() => order.push('busy')),
    )
    await score('repair', many, { organisationId: other }).then(() => order.push('other'))
    await Promise.all(flood)
    expect(order[0]).toBe('other')
  })

  it('names the missing files and its settings, and a model that is no cross-encoder', async () => {
    const empty = path.join(root, 'empty')
    fs.mkdirSync(empty)
    await expect(createOnnxReranker({ modelFolder: empty })).rejects.toThrow(
      /folder of the reranker.*lacks config\.json.*PORTICO_RERANKER_FOLDER/,
    )
    const embedder = path.join(root, 'embedder')
    makeTinyOnnx(embedder)
    await expect(createOnnxReranker({ modelFolder: embedder })).rejects.toThrow(/has no `logits` among its outputs/)
  })
})

it('joins a pair with the special tokens and segment ids of the tokenizer', async () => {
  const { tokenizer } = await readTokenizer(folder)
  const tokens = (text: string) => [...tokenizer.encode(text, { add_special_tokens: false }).ids]
  const whole = tokenizer.encode('car', { text_pair: 'house dog', return_token_type_ids: true })
  const [pair] = createPairEncoder(tokenizer, 64)('car', ['house dog'])
  expect(pair).toEqual({ ids: [...whole.ids], types: [...whole.token_type_ids] })
  const [cut] = createPairEncoder(tokenizer, 9)('car dog house car dog house', ['fast doctor money'])
  const [start, end] = [tokenizer.token_to_id('[CLS]')!, tokenizer.token_to_id('[SEP]')!]
  expect(cut!.ids).toEqual([start, ...tokens('car dog house'), end, ...tokens('fast doctor money'), end])
  expect(cut!.types).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1])
})
