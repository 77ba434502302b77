import type { MembershipRole } from '../../contract/people.ts'
import type { OrganisationId } from '../kernel/index.ts'

/**
 * An authenticated organisation as the server reads it. The room `organisations` extends this interface to its Organisation, which
 * is what routes find in `request.organisation`.
 */
export interface Caller {
  readonly id: OrganisationId
}

/** A signed-in person. */
export interface Person {
  readonly id: string
  readonly email: string
  readonly name: string
  /** Has every right in every organisation, as the operator token has. */
  readonly isOperator: boolean
  readonly memberships: ReadonlyMap<string, MembershipRole>
  readonly sessionId: string
}
