import type { Space } from './space.ts'

/** What may be set of a Space, as JSON, for answers. */
export function describeSpace(space: Space) {
  const { name, instructions, model, settings, published, endpointId } = space
  return { name, instructions, model, settings, published, endpointId }
}

/** The same for the admin log: instructions may hold what only the organisation should read, so their length stands for them. */
export function describeSpaceForLog(space: Space) {
  const { instructions, ...rest } = describeSpace(space)
  return { ...rest, instructionsCharacters: instructions.length }
}
