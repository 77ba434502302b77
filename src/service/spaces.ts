import { recordChange } from '../database/index.ts'
import { createSpaceRemovalStore, createSpaceRemovals, createSpaceStore, createSpaces } from '../spaces/index.ts'
import type { Access } from './access.ts'
import type { Files } from './files.ts'
import type { Foundation } from './foundation.ts'
import type { Models } from './models.ts'

/** Most documents of a deleted Space that one transaction removes. */
const removalBatch = 100

export type OpenedSpaces = Awaited<ReturnType<typeof openSpaces>>

/** Spaces, and the removal of the documents of deleted Spaces. */
export async function openSpaces(parts: Foundation & Access & Models & Files) {
  const { config, control, changeFeed, organisations, catalogue, documentStore, clock, log, onStop } = parts
  const removals = createSpaceRemovals({
    store: createSpaceRemovalStore(control),
    async onSpaceRemoved({ organisationId, spaceId }, signal) {
      while ((await documentStore.removeOfSpace(organisationId, spaceId, removalBatch)) > 0) signal.throwIfAborted()
    },
    clock,
    log,
  })
  onStop(() => removals.close())
  const spaceStore = createSpaceStore(control, recordChange)
  const spaces = await createSpaces({
    store: spaceStore,
    removals,
    defaultModel: config.settings.chat.defaultModel,
    isModelAvailable(organisationId, model) {
      const organisation = organisations.get(organisationId)
      // The store rejects an unknown organisation with a more specific error.
      return !organisation || catalogue.resolve(organisation, model, clock.now())?.model.kind === 'chat'
    },
    changeFeed,
    clock,
    log,
  })
  onStop(() => spaces.close())
  return { spaceStore, spaces }
}
