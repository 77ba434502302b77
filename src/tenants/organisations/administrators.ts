import { AppError } from '../../platform/kernel/index.ts'

const idOf = ({ params }: { params: unknown }) => (params as { id: string }).id

const scope = {
  organisation: (request: { params: unknown }) => idOf(request).toLowerCase(),
  missing: (request: { params: unknown }) => noOrganisation(idOf(request)),
} as const

/** The authentication of routes below `/api/organisations/:id`: administrators of that organisation. */
export const administrators = { role: 'administrator', ...scope } as const
/** The same for its members. */
export const members = { role: 'member', ...scope } as const

export function noOrganisation(id: string): AppError {
  return new AppError('organisation_not_found', `There is no organisation ${id}.`)
}
