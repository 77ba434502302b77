import type { DocumentOperationBody, DocumentSelection } from '../../contract/document-progress.ts'
import { describeError, type Log, type OrganisationId, type SpaceId } from '../../platform/kernel/index.ts'
import type { Job } from '../../platform/jobs/index.ts'
import type { ChangeAuthor } from './change-author.ts'
import type { MetadataChange } from './metadata-change.ts'

/** Work on many documents of a Space, done in batches in the background. */
export interface DocumentOperation extends Omit<DocumentOperationBody, 'requestedAt' | 'finishedAt'> {
  requestedAt: Date
  finishedAt: Date | null
}

export interface NewDocumentOperation {
  organisationId: OrganisationId
  spaceId: SpaceId
  work: DocumentWork
  selection: DocumentSelection
  author?: ChangeAuthor
}

/** What an operation does with each document. */
export type DocumentWork = { kind: 'delete' } | { kind: 'retry' } | { kind: 'metadata'; change: MetadataChange }

export interface DocumentOperations {
  /** Processes the stored file of a failed document again. False: it is not failed, or does not exist. */
  retry(organisationId: OrganisationId, id: string, author?: ChangeAuthor): Promise<boolean>
  /**
   * Starts an operation, and returns it. The same request while the first one is unfinished returns the first. An empty selection
   * is finished at once.
   */
  startOperation(operation: NewDocumentOperation): Promise<DocumentOperation>
  /** The unfinished operations of a Space, oldest first. */
  loadOperations(organisationId: string, spaceId: string): Promise<DocumentOperation[]>
  /** Also a finished one, for a day. */
  loadOperation(place: OperationPlace): Promise<DocumentOperation | undefined>
  /** Stops an operation after its current batch. What was done stays done. False: it has ended already, or does not exist. */
  stopOperation(place: OperationPlace, author?: ChangeAuthor): Promise<boolean>
}

export interface OperationPlace {
  organisationId: OrganisationId
  spaceId: string
  operationId: string
}

/** What an operation's job calls. */
interface OperationBatches {
  /** Handles the next documents of an operation in one transaction. False: it is finished. */
  runBatch(owner: string, operationId: string): Promise<boolean>
  /** Ends it before its last document. */
  failOperation(owner: string, operationId: string): Promise<void>
}

/** The job of an operation. Its payload has the `operationId`. */
export const documentOperationJob = 'document-operation'

/** Continues an operation from its last committed batch until it is finished, also after a crash. */
export function createOperationWorker({ store, log }: { store: OperationBatches; log: Log }) {
  const idOf = (job: Job) => String(job.payload.operationId)
  return {
    async run(job: Job): Promise<void> {
      while (await store.runBatch(job.organisationId, idOf(job))) job.signal.throwIfAborted()
    },
    /** Its batches failed again and again: what it has not reached stays as it is. */
    async giveUp(job: Job, error: unknown): Promise<void> {
      log.error({ operationId: idOf(job), error: describeError(error) }, 'work on many documents was given up')
      await store.failOperation(job.organisationId, idOf(job))
    },
  }
}
