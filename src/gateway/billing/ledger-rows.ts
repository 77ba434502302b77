import type { OrganisationId } from '../../platform/kernel/index.ts'
import type { RequestId } from '../../platform/kernel/index.ts'
import type { SpaceId } from '../../platform/kernel/index.ts'
import type { CallTags } from './port.ts'
import type { Receipt } from './port.ts'
import type { Surface } from './port.ts'

/** A row of an open hold; enough to settle it after a crash. */
export interface HoldRow {
  requestId: RequestId
  organisationId: OrganisationId
  period: string
  amountPicoUsd: bigint
  surface: Surface
  spaceId: SpaceId | null
  model: string
  startedAt: number
  promptTokens: number
  outputTokens: number
  inputAttoUsd: bigint
  outputAttoUsd: bigint
  priceSource: string
  markupBasisPoints: number
}

/** A receipt with what the audit needs to recompute it. */
export interface Entry {
  receipt: Receipt
  /** The base cost stated by the provider; null: tokens times prices. */
  statedAttoUsd: bigint | null
  /** For usage reports; they are personal data and not part of the ledger. */
  tags: CallTags | null
}

/** A change of an open hold; null leaves the field as it is. */
export interface HoldChange {
  requestId: RequestId
  amountPicoUsd: bigint | null
  outputTokens: number | null
}
