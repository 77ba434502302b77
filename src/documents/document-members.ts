import { AppError } from '../kernel/index.ts'

type FindOrganisation = (id: string) => Promise<string | undefined> | string | undefined

/** Members of the organisation that owns the resource in the path. */
export function membersOf(find: FindOrganisation, missing: () => AppError) {
  const organisation = ({ params }: { params: unknown }) => find((params as { id: string }).id)
  return { role: 'member', organisation, missing } as const
}

/** Members that act for this organisation, as its API key does. */
export function actingMembersOf(find: FindOrganisation, missing: () => AppError) {
  return { ...membersOf(find, missing), acting: true } as const
}

export function noSpace(): AppError {
  return new AppError('space_not_found', 'There is no Space with this id.', { param: 'id' })
}

export function noDocument(): AppError {
  return new AppError('document_not_found', 'There is no document with this id.', { param: 'id' })
}
