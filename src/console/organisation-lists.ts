import type { ConsoleOrganisationsQuery } from '../contract/console-organisations.ts'

/** What the operator's pages of organisations read from the database. */
export interface OrganisationLists {
  /** Ids of a page in its order, with what is not in memory. */
  loadPage(filter: ConsoleOrganisationsQuery & { nowMs: number }): Promise<{ total: number; rows: OrganisationRow[] }>
  /** Undefined if there is no such organisation. */
  loadCounts(id: string, nowMs: number): Promise<OrganisationCounts | undefined>
}

export interface OrganisationRow {
  id: string
  /** Billed in the running period. */
  billedPicoUsd: bigint
  gatewayOpen: boolean
  spaces: number
  members: number
}

export interface OrganisationCounts {
  gatewayOpen: boolean
  spaces: number
  publishedSpaces: number
  members: number
  openInvitations: number
}
