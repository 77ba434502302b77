import { type ChangeFeed, type Database, recordChange } from '../../platform/database/index.ts'
import type { LedgerService } from '../../gateway/billing/index.ts'
import { type BlobStore, type DocumentStore, removeLostBlobs } from '../../documents/documents/index.ts'
import { createConversationAccess, createConversations, createSubjectErasure } from '../../chat/conversations/index.ts'
import { callIdsOf } from '../../chat/chat/index.ts'
import type { ErasureKeys } from '../../chat/erasures/index.ts'
import type { GoldenRuns } from '../../chat/golden-questions/index.ts'
import { createInsights, createInsightStore } from '../../chat/insights/index.ts'
import { runsJobs } from '../../platform/kernel/index.ts'
import type { Catalogue } from '../../gateway/models/index.ts'
import type { Organisations } from '../../tenants/organisations/index.ts'
import {
  createSpaceRemovalStore,
  createSpaceRemovals,
  createSpaceStore,
  createSpaces,
} from '../../chat/spaces/index.ts'
import type { PartContext } from './foundation.ts'

interface SpacesDependencies extends PartContext {
  control: Database
  changeFeed: ChangeFeed
  organisations: Pick<Organisations, 'get'>
  catalogue: Pick<Catalogue, 'resolve'>
  documentStore: Pick<DocumentStore, 'removeOfSpace' | 'findLostBlobs'>
  blobs: Pick<BlobStore, 'list' | 'delete'>
  goldenRuns: Pick<GoldenRuns, 'loadGate'>
  ledger: Pick<LedgerService, 'flush'>
  erasureKeys: ErasureKeys
}

/** Most documents of a deleted Space that one transaction removes. */
const removalBatch = 100

/** Spaces, and the removal of the documents of deleted Spaces. */
export async function openSpaces(dependencies: SpacesDependencies) {
  const { config, control, changeFeed, organisations, catalogue, documentStore, goldenRuns, ledger } = dependencies
  const { blobs, erasureKeys, clock, log, onStop } = dependencies
  const removals = createSpaceRemovals({
    store: createSpaceRemovalStore(control),
    async onSpaceRemoved(removed, signal) {
      const { organisationId, spaceId } = removed
      while ((await documentStore.removeOfSpace(organisationId, spaceId, removalBatch)) > 0) signal.throwIfAborted()
      await removeLostBlobs({ store: documentStore, blobs, clock }, removed, signal)
    },
    isActive: runsJobs(config.settings.server.role),
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
    publicationProblem: (space) => goldenRuns.loadGate(space).then(({ problem }) => problem),
    changeFeed,
    clock,
    log,
  })
  onStop(() => spaces.close())
  const insights = createInsights({ store: createInsightStore(control), clock, log })
  onStop(() => insights.close())
  const subjectDigest = erasureKeys.digest
  const service = createConversations({ database: control, subjectDigest, clock, log })
  onStop(() => service.close())
  const organisationOf = (id: string) => spaces.get(id)?.organisationId
  const flushLedger = () => ledger.flush()
  const access = { database: control, service, organisationOf, flushLedger, callIdsOf, clock }
  const conversations = createConversationAccess(access)
  const turnErasure = createSubjectErasure({ database: control, service })
  return { spaceStore, spaces, insights, conversations, turnErasure, beginRecord: service.begin }
}
