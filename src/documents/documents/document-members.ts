import { AppError } from '../../platform/kernel/index.ts'

type Found = Promise<string | undefined> | string | undefined
type FindOrganisation = (id: string) => Found

/** Members of the organisation that owns the resource in the path. */
export function membersOf(find: FindOrganisation, missing: () => AppError) {
  return membersBy(({ params }) => find((params as { id: string }).id), missing)
}

/** Members of the organisation that owns the resource of a request. */
export function membersBy(organisation: (request: { params: unknown }) => Found, missing: () => AppError) {
  return { role: 'member', organisation, missing } as const
}

/** Loads a resource of the path once per request: for the authorisation and for the handler. */
export function loadOnce<Resource>(load: (id: string) => Promise<Resource | undefined>) {
  const loaded = new WeakMap<object, Promise<Resource | undefined>>()
  return (request: { params: unknown }) => {
    const found = loaded.get(request) ?? load((request.params as { id: string }).id)
    loaded.set(request, found)
    return found
  }
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

/** The document that an upload should replace. */
export function noReplacedDocument(): AppError {
  return new AppError('document_not_found', 'There is no document with this id.', { param: 'replaces' })
}
