import type { ErasureKind, LeftCounts, RemovedCounts } from '../../contract/erasures.ts'
import type { Queryable } from '../../platform/database/index.ts'

export interface ErasureSubject {
  erasureId: string
  organisationId: string
  kind: ErasureKind
  /** The value of `service-user`, or the id of the document. */
  value: string
  /** Data of visitors that is younger stays. */
  requestedAt: Date
}

/** A row of the corpus database that is removed, with its blob. */
export interface PlannedRow {
  blobKey: string
  at: string
  chunks: number
  searchTerms: number
  vectors: number
}
/** By the id of the row. */
export type ErasurePlan = Record<string, PlannedRow>

export interface ErasureRecorder {
  /** Adds to the counts of the certificate. Call it in the transaction of the removal, on the control database. */
  add(transaction: Queryable, removed: RemovedCounts): Promise<void>
  loadPlan(): Promise<ErasurePlan>
  /** Before rows of the corpus database are removed: no transaction has both databases. `removed` replaces the counts of its kinds. */
  savePlan(plan: ErasurePlan, removed: RemovedCounts): Promise<void>
}

/** Erases some kinds of data. Every method may be repeated. */
export interface ErasureStep {
  kind: ErasureKind
  /** It runs at once, and again with the others after unwritten data of all instances has been written. */
  isFirst?: boolean
  /** Removes in short transactions; returns when nothing is left. */
  erase(subject: ErasureSubject, recorder: ErasureRecorder, signal: AbortSignal): Promise<void>
  countLeft(subject: ErasureSubject, recorder: ErasureRecorder, signal: AbortSignal): Promise<LeftCounts>
}
