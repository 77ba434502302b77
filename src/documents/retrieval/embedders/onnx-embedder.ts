import os from 'node:os'
import { createTimeSlices } from '../../../platform/kernel/index.ts'
import { countWithTokenizer } from '../../../gateway/tokens/index.ts'
import { type ModelThread, openModelThread } from '../onnx/model-thread.ts'
import { digestOf, type OnnxModelOptions, openModelFiles, type ReadModel, readModel } from '../onnx/onnx-model-files.ts'
import type { ModelUse } from '../onnx/onnx-runtime.ts'
import type { Embedder } from './embedder.ts'
import type { ModelFamily } from './model-family.ts'

export interface OnnxEmbedderOptions extends OnnxModelOptions {
  /** Keep this many first dimensions; for models trained for it (Matryoshka). */
  dimensions?: number
  /** Overrides the settings by the model's files and name. */
  family?: Partial<ModelFamily>
}

/** Texts of one run of the model, and their tokens with padding: about 300 MB of activations for a small model. */
const maximumBatchTexts = 16
const maximumBatchTokens = 8_192

export const embeddingUse: ModelUse = {
  noun: 'embedding model',
  settings: 'embeddings',
  variable: 'PORTICO_EMBEDDING_FOLDER',
}

/** A local sentence-embedding model in a separate thread. If it cannot be loaded, the error contains instructions. */
export async function createOnnxEmbedder(options: OnnxEmbedderOptions): Promise<Embedder> {
  const { name, folder, weights, dtype } = await openModelFiles(options, embeddingUse)
  const model = await readModel(folder, name, options.family)
  const thread = await openModelThread(
    {
      folder,
      weights,
      threads: options.threads ?? Math.max(1, os.availableParallelism() - 1),
      maximumTokens: model.maximumTokens,
      task: { kind: 'embed', pooling: model.family.pooling, dimensions: options.dimensions ?? null },
    },
    { name, use: embeddingUse },
  )
  const digest = await digestOf(folder, dtype, model.family, thread.dimensions)
  return assemble({ ...model, folder, name, id: `onnx:${name}:${thread.dimensions}:${digest}`, thread })
}

interface Parts extends ReadModel {
  id: string
  name: string
  folder: string
  thread: ModelThread
}

function assemble({ id, name, folder, family, tokenizer, maximumTokens, thread }: Parts): Embedder {
  const { dimensions } = thread
  const countTokens = countWithTokenizer(tokenizer)
  const prefixTokens = Math.max(countTokens(family.passagePrefix), countTokens(family.queryPrefix))
  return {
    id,
    label: `local model ${name} (${dimensions} dimensions)`,
    semantics: true,
    dimensions,
    // The prefix is part of the input but not of the text.
    maximumTokens: maximumTokens - prefixTokens,
    countTokens,
    counter: { kind: 'tokenizer', folder },
    async embed({ texts, purpose, organisationId, signal }) {
      const prefix = purpose === 'query' ? family.queryPrefix : family.passagePrefix
      const prefixed = texts.map((text) => prefix + text)
      const vectors = Array.from<Float32Array>({ length: texts.length })
      for (const batch of await batchesOf(prefixed, countTokens, maximumTokens)) {
        const work = { texts: batch.map((index) => prefixed[index]!) }
        const values = await thread.run(work, organisationId, signal)
        for (const [position, index] of batch.entries()) {
          vectors[index] = values.slice(position * dimensions, (position + 1) * dimensions)
        }
      }
      return vectors
    },
    close: () => thread.close(),
  }
}

/** Indexes of the texts in batches of similar length, which need little padding. */
async function batchesOf(
  texts: readonly string[],
  countTokens: (text: string) => number,
  maximumTokens: number,
): Promise<number[][]> {
  const slice = createTimeSlices()
  const tokens: number[] = []
  for (const text of texts) {
    await slice()
    tokens.push(Math.min(maximumTokens, countTokens(text)))
  }
  const order = texts.map((_, index) => index).sort((left, right) => tokens[left]! - tokens[right]!)
  const batches: number[][] = []
  let batch: number[] = []
  for (const index of order) {
    // All are padded to the longest of a batch, which is its last one.
    if (batch.length === maximumBatchTexts || (batch.length + 1) * tokens[index]! > maximumBatchTokens) {
      if (batch.length > 0) batches.push(batch)
      batch = []
    }
    batch.push(index)
  }
  if (batch.length > 0) batches.push(batch)
  return batches
}
