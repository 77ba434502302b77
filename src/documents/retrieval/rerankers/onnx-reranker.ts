import os from 'node:os'
import { openModelThread } from '../onnx/model-thread.ts'
import { type OnnxModelOptions, openModelFiles, readMaximumTokens } from '../onnx/onnx-model-files.ts'
import type { ModelUse } from '../onnx/onnx-runtime.ts'
import type { Reranker } from './reranker.ts'

/** Pairs of one run of the model: after each, another organisation may have its turn, and work of a client that has left ends. */
const maximumBatchPairs = 8
/** Longest pair in tokens: a chunk and a question. Bounds the time and the memory of a run. */
const maximumPairTokens = 1_024

const rerankerUse: ModelUse = { noun: 'reranker', settings: 'reranker', variable: 'PORTICO_RERANKER_FOLDER' }

/** A local cross-encoder in a separate thread. If it cannot be loaded, the error contains instructions. */
export async function createOnnxReranker(options: OnnxModelOptions): Promise<Reranker> {
  const { name, folder, weights } = await openModelFiles(options, rerankerUse)
  const thread = await openModelThread(
    {
      folder,
      weights,
      threads: options.threads ?? Math.max(1, os.availableParallelism() - 1),
      maximumTokens: Math.min(maximumPairTokens, await readMaximumTokens(folder)),
      task: { kind: 'rerank' },
    },
    { name, use: rerankerUse },
  )
  return {
    id: `onnx:${name}`,
    label: `local model ${name}`,
    async score({ query, documents, organisationId, signal }) {
      const scores = Array.from<number>({ length: documents.length })
      for (const batch of batchesOf(documents)) {
        const work = { query, documents: batch.map((index) => documents[index]!) }
        const values = await thread.run(work, organisationId, signal)
        for (const [position, index] of batch.entries()) scores[index] = values[position] ?? Number.NaN
      }
      return scores
    },
    close: () => thread.close(),
  }
}

/** Indexes of the documents in batches of similar length, which need little padding. */
function batchesOf(documents: readonly string[]): number[][] {
  const order = documents.map((_, index) => index)
  order.sort((left, right) => documents[left]!.length - documents[right]!.length)
  const batches: number[][] = []
  for (let start = 0; start < order.length; start += maximumBatchPairs) {
    batches.push(order.slice(start, start + maximumBatchPairs))
  }
  return batches
}
