import { actingMembersOfSpace, noSpace, peopleOfSpace, type Space } from '../spaces/index.ts'

/** Who may call routes with a Space in the path, and the Space of a request. */
export function spaceFinder(getSpace: (id: string) => Space | undefined) {
  return {
    members: peopleOfSpace({ get: getSpace }, 'member'),
    actingMembers: actingMembersOfSpace({ get: getSpace }),
    administrators: peopleOfSpace({ get: getSpace }, 'administrator'),
    /** Throws `space_not_found`. */
    spaceOf(id: string): Space {
      const space = getSpace(id)
      if (!space) throw noSpace(id)
      return space
    },
  }
}
