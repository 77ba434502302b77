import { describeRoutes } from '../../platform/http/index.ts'
import type { Space } from './space.ts'
import { noSpace } from './spaces.ts'

/** What routes with a Space in the path share: `describeRoutes` for people of its organisation, by role, and the Space of a request. */
export function routesOfSpace(getSpace: (id: string) => Space | undefined, tag: string) {
  const scope = {
    organisation: ({ params }: { params: unknown }) => getSpace((params as { id: string }).id)?.organisationId,
    missing: ({ params }: { params: unknown }) => noSpace((params as { id: string }).id),
  }
  return {
    forMembers: describeRoutes({ role: 'member', ...scope }, tag),
    /** Members that act for the organisation, as its API key does. */
    forActingMembers: describeRoutes({ role: 'member', ...scope, acting: true }, tag),
    forAdministrators: describeRoutes({ role: 'administrator', ...scope }, tag),
    /** Throws `space_not_found`, for a Space that was removed after the role was checked. */
    spaceOf(id: string): Space {
      const space = getSpace(id)
      if (!space) throw noSpace(id)
      return space
    },
  }
}

export type RoutesOfSpace = ReturnType<typeof routesOfSpace>
