import { recordChange } from '../database/index.ts'
import { createSpaceRemovalStore, createSpaceRemovals, createSpaceStore, createSpaces } from '../spaces/index.ts'
import type { Access } from './access.ts'
import type { Files } from './files.ts'
import type { Foundation } from './foundation.ts'
import type { Models } from './models.ts'

export type OpenSpaces = Awaited<ReturnType<typeof openSpaces>>

/** Documents of a deleted Space that one transaction removes. */
const removalBatch = 100

/** Spaces, and the removal of the documents of those that are deleted. */
export async function openSpaces(
  foundation: Foundation,
  { organisations }: Access,
  { catalogue }: Models,
  { documentStore }: Files,
) {
  const { config, control, changeFeed, clock, log, onStop } = foundation
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
      // The store refuses an unknown organisation with a better error.
      return !organisation || catalogue.resolve(organisation, model, clock.now())?.model.kind === 'chat'
    },
    changeFeed,
    clock,
    log,
  })
  onStop(() => spaces.close())
  return { spaceStore, spaces }
}
