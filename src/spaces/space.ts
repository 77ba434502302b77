import type { EndpointId, OrganisationId, SpaceId } from '../kernel/index.ts'

/** A Space: instructions, a model, uploaded files. Immutable: a change makes a new object in the snapshot. */
export interface Space {
  readonly id: SpaceId
  readonly organisationId: OrganisationId
  readonly name: string
  /** Put in front of every answer's prompt. */
  readonly instructions: string
  /** As asked for in the catalogue (canonical id, alias, `eu/`); null: the service's default. */
  readonly model: string | null
  /** Passages that an answer is given at most. */
  readonly maximumPassages: number
  readonly published: boolean
  /** Made at the first publish and kept; null before. */
  readonly endpointId: EndpointId | null
  readonly createdAt: number
  readonly updatedAt: number
}
