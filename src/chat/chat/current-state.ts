import { AppError } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { AnswerCall, AnswerDependencies } from './port.ts'

/** The organisation as it is now: an answer may call the model minutes after its request. */
export function currentOrganisation(
  { findOrganisation }: Pick<AnswerDependencies, 'findOrganisation'>,
  { organisation }: Pick<AnswerCall, 'organisation'>,
): Organisation {
  const current = findOrganisation(organisation.id)
  if (!current) throw notOffered()
  return current
}

/** Throws `endpoint_not_found` once the Space is no longer offered. */
export function assertOffered({ isOffered }: Pick<AnswerCall, 'isOffered'>): void {
  if (isOffered?.() === false) throw notOffered()
}

function notOffered(): AppError {
  return new AppError('endpoint_not_found', 'The Space was unpublished or removed while it answered.')
}
