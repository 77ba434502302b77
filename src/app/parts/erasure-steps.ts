import { createTagErasure } from '../../gateway/billing/index.ts'
import type { createSubjectErasure } from '../../chat/conversations/index.ts'
import { type Database, DatabaseStartError } from '../../platform/database/index.ts'
import { type BlobStore, createDocumentErasure, type DocumentStore } from '../../documents/documents/index.ts'
import {
  createErasureKeys,
  deriveErasureKeys,
  type ErasureKeys,
  type ErasureStep,
  hasErasures,
} from '../../chat/erasures/index.ts'
import { createGoldenErasure } from '../../chat/golden-questions/index.ts'
import { countCitations, hashQuestion, removeCitations, removeQuestions } from '../../chat/insights/index.ts'
import type { SearchIndex } from '../../documents/retrieval/index.ts'
import { type Log, type SecretBox, sharedOwner } from '../../platform/kernel/index.ts'
import { openInstallationKey } from '../../tenants/operators/index.ts'

interface ErasureStepsDependencies {
  control: Database
  documentStore: DocumentStore
  blobs: BlobStore
  index: Pick<SearchIndex, 'countRows' | 'removeCopies'>
  turnErasure: ReturnType<typeof createSubjectErasure>
}

/** Which rooms hold something of visitors and documents that are erased. */
export function createErasureSteps(dependencies: ErasureStepsDependencies): ErasureStep[] {
  return [
    documentStep(dependencies),
    turnStep('document', dependencies),
    citationStep(dependencies),
    goldenStep(dependencies),
    turnStep('user', dependencies),
    tagStep(dependencies),
  ]
}

const counted = (count: number) => ({ count, from: null, to: null })
/** Rows of counts that one transaction removes. */
const citationsPerRound = 1_000

function documentStep({ documentStore, blobs, index }: ErasureStepsDependencies): ErasureStep {
  const documents = createDocumentErasure({ store: documentStore, blobs })
  return {
    kind: 'document',
    isFirst: true,
    async erase({ organisationId, value }, recorder) {
      const plan = await recorder.loadPlan()
      for (const { id, blobKey, at } of await documents.loadVersions(organisationId, value))
        plan[id] = { blobKey, at: at.toISOString(), ...(await index.countRows({ organisationId, documentIds: [id] })) }
      const rows = Object.values(plan)
      const times = rows.map(({ at }) => at).toSorted()
      const sum = (name: 'chunks' | 'searchTerms' | 'vectors') =>
        counted(rows.reduce((total, row) => total + row[name], 0))
      await recorder.savePlan(plan, {
        documents: { count: rows.length, from: times[0] ?? null, to: times.at(-1) ?? null },
        files: counted(rows.length),
        chunks: sum('chunks'),
        searchTerms: sum('searchTerms'),
        vectors: sum('vectors'),
      })
      await documents.removeRows(organisationId, value)
      await index.removeCopies({ organisationId, documentIds: Object.keys(plan) })
      await documents.removeFiles(rows.map((row) => row.blobKey))
    },
    async countLeft({ organisationId, value }, recorder) {
      const plan = await recorder.loadPlan()
      const keys = Object.values(plan).map(({ blobKey }) => blobKey)
      const left = await documents.countLeft(organisationId, value, keys)
      return { ...left, ...(await index.countRows({ organisationId, documentIds: Object.keys(plan) })) }
    },
  }
}

function turnStep(kind: ErasureStep['kind'], { turnErasure }: ErasureStepsDependencies): ErasureStep {
  return {
    kind,
    erase: (subject, recorder, signal) =>
      turnErasure.erase(
        subject,
        async (transaction, { turns, conversations, from, to, spaceId, unanswered }) => {
          const questions = await removeQuestions(transaction, spaceId, unanswered.map(hashQuestion))
          await recorder.add(transaction, {
            conversationTurns: { count: turns, from: from.toISOString(), to: to.toISOString() },
            conversations: counted(conversations),
            unansweredQuestions: counted(questions),
          })
        },
        signal,
      ),
    // A conversation without turns, and the kept question of a turn, are removed with the turn.
    countLeft: async (subject, _recorder, signal) => ({
      conversationTurns: await turnErasure.countLeft(subject, signal),
    }),
  }
}

function citationStep({ control }: ErasureStepsDependencies): ErasureStep {
  return {
    kind: 'document',
    async erase({ organisationId, value }, recorder, signal) {
      for (let removed = citationsPerRound; removed === citationsPerRound; signal.throwIfAborted())
        removed = await control.for(organisationId).transaction(async (transaction) => {
          const of = { organisationId, documentId: value, limit: citationsPerRound }
          const count = await removeCitations(transaction, of)
          if (count > 0) await recorder.add(transaction, { citationCounts: counted(count) })
          return count
        })
    },
    countLeft: async ({ organisationId, value }) => ({
      citationCounts: await countCitations(control, organisationId, value),
    }),
  }
}

function goldenStep({ control }: ErasureStepsDependencies): ErasureStep {
  const golden = createGoldenErasure(control)
  return {
    kind: 'document',
    async erase({ organisationId, value }, recorder, signal) {
      const note = (transaction: Parameters<typeof recorder.add>[0], answers: number) =>
        recorder.add(transaction, { goldenAnswers: counted(answers) })
      while (await golden.eraseSome(organisationId, value.toLowerCase(), note)) signal.throwIfAborted()
    },
    countLeft: async ({ organisationId, value }) => ({
      goldenAnswers: await golden.countLeft(organisationId, value.toLowerCase()),
    }),
  }
}

function tagStep({ control }: ErasureStepsDependencies): ErasureStep {
  const tags = createTagErasure(control)
  return {
    kind: 'user',
    erase: ({ organisationId, value }, recorder) =>
      tags.erase(organisationId, value, (transaction, count) =>
        recorder.add(transaction, { usageTags: counted(count) }),
      ),
    countLeft: async ({ organisationId, value, requestedAt }) => ({
      usageTags: await tags.countLeft(organisationId, value, requestedAt),
    }),
  }
}

interface ErasureKeysDependencies {
  control: Database
  secretKey: string
  secondSecretKey: string | undefined
  secretBox: SecretBox
  log: Log
}

/** The keys that sign certificates of erasure. The first start derives them from the secret key and stores them. */
export async function openErasureKeys({
  control,
  secretKey,
  secondSecretKey,
  secretBox,
  log,
}: ErasureKeysDependencies): Promise<ErasureKeys> {
  const keys = await openInstallationKey({ control: control.for(sharedOwner), secretBox, log }, 'erasures', {
    make: () => deriveErasureKeys(secretKey),
    async beforeFirst() {
      if (secondSecretKey !== undefined && (await hasErasures(control))) throw unstoredKeys()
    },
  })
  return createErasureKeys(keys)
}

/** They are derived from the secret key of the time of the erasures, which must not be the second one already. */
function unstoredKeys(): DatabaseStartError {
  return new DatabaseStartError(
    'start this version once without PORTICO_SECOND_SECRET_KEY, and with the secret key that you have: it stores the keys that sign certificates of erasure',
  )
}
