import type { SpaceBody } from '../../contract/operator.ts'
import { versionOf } from '../../platform/kernel/index.ts'
import type { Space } from './space.ts'

/** The fields of a Space that an operator sets, and its publication, as JSON. */
export function describeSpace(space: Space) {
  const { name, instructions, model, settings, published, endpointId } = space
  return { name, instructions, model, settings, published, endpointId }
}

/** What a change of a Space replaces, of which its version is. */
export function settingsOf({ name, instructions, model, settings }: Space) {
  return { name, instructions, model, settings }
}

/** The same as `describeSpace` for the admin log. Instructions may contain text that only the organisation should read: the log gets their length. */
export function describeSpaceForLog(space: Space) {
  const { instructions, ...rest } = describeSpace(space)
  return { ...rest, instructionsCharacters: instructions.length }
}

export function renderSpace(space: Space): SpaceBody {
  return {
    id: space.id,
    organisationId: space.organisationId,
    ...describeSpace(space),
    version: versionOf(settingsOf(space)),
    createdAt: new Date(space.createdAt).toISOString(),
    updatedAt: new Date(space.updatedAt).toISOString(),
  }
}
