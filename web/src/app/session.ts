import { useSuspenseQuery } from '@tanstack/react-query'
import type { MeBody } from '@contract/people.ts'
import { jsonQuery } from '../api/queries.ts'

/** The signed-in person with roles; loaded once, and again after a change of roles. */
export const sessionQuery = jsonQuery<MeBody>(['session'], '/api/me', { staleTime: 60_000 })

export type Role = 'operator' | 'administrator' | 'member'

export function useSession(): MeBody {
  return useSuspenseQuery(sessionQuery).data
}

/** The rights of the signed-in person in one organisation. Operators have every right everywhere. */
export function useRights(organisationId: string | undefined): { isOperator: boolean; isAdministrator: boolean } {
  const session = useSession()
  const membership = session.organisations.find(({ id }) => id === organisationId)
  return {
    isOperator: session.isOperator,
    isAdministrator: session.isOperator || membership?.role === 'administrator',
  }
}

/** The name of an organisation to which an operator does not belong; loaded once for each. */
export const organisationNameQuery = (organisationId: string) =>
  jsonQuery<{ name: string }>(['visited-organisation', organisationId], `/api/organisations/${organisationId}`, {
    staleTime: 300_000,
    retry: false,
  })
