import type { EndpointId, OrganisationId, SpaceId } from '../kernel/index.ts'

/** How a Space answers. */
export interface SpaceSettings {
  /** Passages that an answer is given at most; fewer where the model's context has no room. */
  readonly maximumPassages: number
  /** When credits are exhausted the chat goes on with a base-tier model, where the service allows it too. Off by default. */
  readonly baseTierFallback: boolean
  /** 0 to 2, scaled per provider; null for the provider's default. */
  readonly temperature: number | null
  /** Cap of one answer; null for the model's own. */
  readonly maximumOutputTokens: number | null
}

/** Documents with the instructions and the model that answer from them. Immutable: a change makes a new object in the snapshot. */
export interface Space {
  readonly id: SpaceId
  readonly organisationId: OrganisationId
  readonly name: string
  /** Put in front of every answer's prompt. */
  readonly instructions: string
  /** As asked for: canonical id or alias, with or without `eu/`; looked up when it is used. */
  readonly model: string
  readonly settings: SpaceSettings
  readonly published: boolean
  /** Made at the first publish and kept; null before. */
  readonly endpointId: EndpointId | null
  readonly createdAt: number
  readonly updatedAt: number
}
