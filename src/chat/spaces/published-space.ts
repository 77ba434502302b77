import { AppError } from '../../platform/kernel/index.ts'
import type { Space } from './space.ts'

/** Throws the same 404 for an endpoint that is unknown, not published, or of another organisation. */
export function findPublishedSpace(
  getPublishedSpace: (endpointId: string) => Space | undefined,
  endpointId: string,
  organisation: { id: string },
): Space {
  const space = getPublishedSpace(endpointId)
  if (!space || space.organisationId !== organisation.id) {
    throw new AppError(
      'endpoint_not_found',
      'There is no published Space at this endpoint. A team administrator publishes it under Published Spaces.',
      { param: 'endpointId' },
    )
  }
  return space
}
