import { AppError } from '../../platform/kernel/index.ts'
import type { Spaces } from './spaces.ts'

/** The authentication of routes with a Space in the path: people of its organisation with at least this role. */
export function peopleOfSpace(spaces: Pick<Spaces, 'get'>, role: 'administrator' | 'member') {
  return {
    role,
    organisation: ({ params }: { params: unknown }) => spaces.get((params as { id: string }).id)?.organisationId,
    missing: ({ params }: { params: unknown }) => noSpace((params as { id: string }).id),
  }
}

/** Members of its organisation that act for it, as its API key does. */
export function actingMembersOfSpace(spaces: Pick<Spaces, 'get'>) {
  return { ...peopleOfSpace(spaces, 'member'), acting: true } as const
}

export function noSpace(id: string): AppError {
  return new AppError('space_not_found', `There is no Space ${id}.`)
}
