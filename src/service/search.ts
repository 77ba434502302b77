import { createHashingEmbedder, createRetrieval, type Retrieval } from '../retrieval/index.ts'
import type { Access } from './access.ts'
import { openEmbedder, openFormerEmbedders } from './embedders.ts'
import type { Files } from './files.ts'
import type { Foundation } from './foundation.ts'
import type { Gateway } from './gateway.ts'
import type { Models } from './models.ts'

export type Search = Awaited<ReturnType<typeof openSearch>>

/** The embedder, and hybrid search over its vectors. */
export async function openSearch(parts: Foundation & Access & Models & Gateway & Files) {
  const { config, index, organisations, catalogue, embeddings, metrics, tokens, clock, log, onStop } = parts
  const dependencies = {
    dataFolder: config.settings.dataFolder,
    embeddings,
    tokens,
    organisations,
    modelDimensions: (model: string) =>
      catalogue.built().models.get(model.replace(/^eu\//, ''))?.dimensions ?? undefined,
    clock,
    log,
  }
  const embedder = await openEmbedder(config, dependencies)
  onStop(() => embedder.close())
  const former = await openFormerEmbedders(embedder, await index.embeddingVersions.load(), dependencies)
  for (const one of former) onStop(() => one.close())
  const retrieval = timed(
    // The built-in embedder needs no model files, so it always serves its index while the index of another model is built.
    createRetrieval({ index, embedder, formerEmbedders: [createHashingEmbedder(), ...former], log }),
    (seconds) => metrics.searchSeconds.observe(seconds),
  )
  return { embedder, retrieval }
}

function timed(retrieval: Retrieval, observe: (seconds: number) => void): Retrieval {
  return {
    async search(request) {
      const startMs = performance.now()
      try {
        return await retrieval.search(request)
      } finally {
        observe((performance.now() - startMs) / 1000)
      }
    },
  }
}
