import type { ErasureCertificate, ErasureKind, LeftCounts } from '../../contract/erasures.ts'
import { type Clock, describeError, type Log, repeatWork, type SecretBox } from '../../platform/kernel/index.ts'
import type { ErasureKeys } from './erasure-keys.ts'
import type { ErasureRecorder, ErasureStep, ErasureSubject } from './erasure-step.ts'
import { type ClaimedErasure, erasuresColumn, type ErasureStore } from './erasures.store.ts'

export interface ErasureWorkerDependencies {
  store: ErasureStore
  keys: ErasureKeys
  secretBox: SecretBox
  steps: readonly ErasureStep[]
  clock: Clock
  log: Log
}

/** How often every instance looks for work of others. */
const everyMs = 5_000
/** Longer than the counts of insights and usage wait in the memory of an instance before they are written. */
const unwrittenMs = 6_000
/** A held erasure is extended at this interval. */
const holdEveryMs = 5_000
const retrySeconds = { left: 2, failed: 10 }

/** Works on accepted erasures, one after the other, until each has its certificate. */
export function createErasureWorker(dependencies: ErasureWorkerDependencies) {
  const { store, clock, log } = dependencies

  async function workOnAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const claimed = await store.claim()
      if (!claimed) return
      const end = clock.every(holdEveryMs, () => void store.hold(claimed.id).catch(() => {}))
      try {
        await work(dependencies, claimed, signal)
      } catch (error) {
        await giveBack(claimed, error, signal)
      } finally {
        end()
      }
    }
  }

  async function giveBack({ id }: ClaimedErasure, error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return store.release(id, 0, null)
    const isLeft = error instanceof DataLeft
    if (!isLeft) log.warn({ erasureId: id, reason: describeError(error) }, 'an erasure failed; it is repeated')
    // The message of an error may quote a value.
    const failure = isLeft ? error.message : 'The last attempt failed; the log of the service has the reason.'
    await store.release(id, isLeft ? retrySeconds.left : retrySeconds.failed, failure)
  }

  return repeatWork({
    clock,
    everyMs,
    work: workOnAll,
    onFailed: (error) => log.warn({ reason: describeError(error) }, 'erasures could not be read'),
  })
}

/** For instance a file that a running backup still holds, or rows that another instance deletes. */
class DataLeft extends Error {}

async function work(dependencies: ErasureWorkerDependencies, claimed: ClaimedErasure, signal: AbortSignal) {
  const { store, secretBox, clock } = dependencies
  const { id, organisationId, kind, requestedAt } = claimed
  const value = secretBox.open(claimed.subjectSealed, erasuresColumn.contextOf(id))
  const subject: ErasureSubject = { erasureId: id, organisationId, kind, value, requestedAt }
  const recorder: ErasureRecorder = {
    add: (transaction, removed) => store.add(transaction, id, removed),
    loadPlan: () => store.loadPlan(id),
    savePlan: (plan, removed) => store.savePlan(id, plan, removed),
  }
  const steps = dependencies.steps.filter((step) => step.kind === kind)
  for (const step of steps.filter(({ isFirst }) => isFirst)) await step.erase(subject, recorder, signal)
  const restMs = requestedAt.getTime() + unwrittenMs - clock.now()
  if (restMs > 0) await clock.sleep(Math.min(restMs, unwrittenMs), signal)
  await store.waitForWriters()
  for (const step of steps) await step.erase(subject, recorder, signal)
  const left: LeftCounts = {}
  for (const step of steps) Object.assign(left, await step.countLeft(subject, recorder, signal))
  const kinds = Object.entries(left).filter(([, count]) => count > 0)
  if (kinds.length > 0) throw new DataLeft(`Not yet removed: ${kinds.map(([name]) => name).join(', ')}.`)
  const nowMs = clock.now()
  const isCompleted = await store.complete(claimed, nowMs, (row) =>
    certify(dependencies.keys, claimed, nowMs, left, row),
  )
  // It was requested again meanwhile.
  if (!isCompleted) await store.release(id, 0, null)
}

function certify(
  keys: ErasureKeys,
  { id, organisationId, kind, subjectDigest, requestedBy, requestedAt }: ClaimedErasure,
  nowMs: number,
  left: LeftCounts,
  { removed, logEntryIds }: Pick<ErasureCertificate, 'removed' | 'logEntryIds'>,
): ErasureCertificate {
  const none = { count: 0, from: null, to: null }
  const certificate = {
    version: 1 as const,
    id,
    organisationId,
    kind,
    subjectDigest,
    requestedBy,
    requestedAt: requestedAt.toISOString(),
    completedAt: new Date(nowMs).toISOString(),
    removed: { ...Object.fromEntries(Object.keys(left).map((name) => [name, none])), ...removed },
    left,
    notErased: notErased(kind),
    logEntryIds,
  }
  return { ...certificate, signature: keys.sign(certificate) }
}

type NotErased = ErasureCertificate['notErased']

const always: NotErased = [
  { data: 'receipts and sums of usage', reason: 'They are the bill. They have no texts.' },
  {
    data: 'golden questions',
    reason: 'Administrators wrote them, or took them over from questions. Change or delete them in the Space.',
  },
  { data: 'backups and write-ahead logs', reason: 'They keep erased data until they expire.' },
  { data: 'data at AI providers', reason: 'Providers delete prompts by their own terms.' },
]

const ofKind: Record<ErasureKind, NotErased> = {
  user: [
    { data: 'answers of requests without `service-user`', reason: 'Nothing connects them with the user.' },
    { data: 'data of requests after the erasure was requested', reason: 'It is new data. Request another erasure.' },
    {
      data: 'usage tags of other keys than `user`, and tags in journals of the ledger',
      reason: 'Metadata belongs to the client. A journal is removed after its entries are in the database.',
    },
  ],
  document: [
    {
      data: 'entries of the admin log about the document',
      reason: 'They prove changes. They have its name, without text.',
    },
    {
      data: 'answers without a reference to the document',
      reason: 'An answer that ended before its references does not state which documents it quotes.',
    },
    { data: 'other documents with the same content', reason: 'They have other ids. Erase each of them.' },
    { data: 'earlier versions in an object store with versioning', reason: 'The rules of the bucket remove them.' },
  ],
}

/** What a certificate names as not erased. */
const notErased = (kind: ErasureKind): NotErased => [...ofKind[kind], ...always]
