import { describeError, isAppError, type Log, sharedOwner } from '../../platform/kernel/index.ts'
import { type Embedders, reindexStep, saveIndexProblem, type SearchIndex } from '../retrieval/index.ts'

interface Round {
  index: SearchIndex
  embedders: Pick<Embedders, 'current'>
  log: Log
  signal: AbortSignal
}

/**
 * Embeds all documents for the current embedder until its index answers searches, or until organisations refuse the rest. Each step takes the
 * embedder that is current then. What keeps the index from being complete is stored with it.
 */
export async function reindex(round: Round): Promise<void> {
  const { index, embedders, signal } = round
  try {
    const refused = await embedAll(round)
    const [reason] = refused.values()
    await saveProblem(index, reason === undefined ? null : { reason, organisationIds: [...refused.keys()] })
  } catch (error) {
    signal.throwIfAborted()
    await saveProblem(index, { reason: isAppError(error) ? error.message : describeError(error), organisationIds: [] })
    throw error
  }
  const building = await loadBuilding(index)
  if (building && building.embedderId !== embedders.current().id)
    throw new Error('this instance has not learned yet which embedding model was chosen; it is tried again')
}

/** The organisations that refused, with their reasons. */
async function embedAll({ index, embedders, log, signal }: Round): Promise<Map<string, string>> {
  const refused = new Map<string, string>()
  let embedded = 0
  for (;;) {
    const embedder = embedders.current()
    const progress = await reindexStep({ index, embedder, signal })
    if (progress.state === 'complete') {
      // Chosen after the last step began, and its job was dropped because of this one.
      if ((await loadBuilding(index))?.embedderId === embedders.current().id) continue
      break
    }
    if (progress.state === 'incomplete' && refused.size > 0) break
    if (progress.state === 'refused') refused.set(progress.organisationId, progress.reason)
    if (progress.state !== 'building') continue
    if (embedded === 0) await saveProblem(index, null)
    embedded += progress.embeddedChunks
    log.info(
      { embedder: embedder.id, embeddedChunks: progress.embeddedChunks },
      're-indexing for another embedding model',
    )
  }
  // Vectors that were added to the index that answers searches already.
  if (embedded > 0) index.engine.reset()
  return refused
}

async function loadBuilding(index: SearchIndex) {
  return (await index.embeddingVersions.load()).find(({ state }) => state === 'building')
}

async function saveProblem(index: SearchIndex, problem: Parameters<typeof saveIndexProblem>[2]): Promise<void> {
  const building = await loadBuilding(index)
  if (building) await saveIndexProblem(index.database.for(sharedOwner), building, problem)
}
