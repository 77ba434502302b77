import type { FastifyRequest } from 'fastify'
import type { MembershipRole } from '../../contract/people.ts'
import type { AppError, OrganisationId } from '../kernel/index.ts'

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

/** What an organisation's limits count: a completion or a chat, or an upload. */
export type LimitedKind = 'call' | 'upload'

/** People with at least this role in the organisation to which a request belongs. */
export interface OrganisationAuthentication {
  role: MembershipRole
  /** Reads `params`, `query` or `body`. Undefined if the resource does not exist. */
  organisation(request: FastifyRequest): string | undefined | Promise<string | undefined>
  /** The 404 for a resource that does not exist or belongs to another organisation. */
  missing(request: FastifyRequest): AppError
  /**
   * The request acts for the organisation, as with its API key: `request.organisation` is set, and `config.limited` counts it.
   * `organisation` then runs before the body is read, so it reads `params` or `query` only.
   */
  acting?: true
}

/** Who of the people may call a route. The operator token may call all of these routes. */
export type RoleAuthentication =
  /** Operators. */
  | { role: 'operator' }
  | OrganisationAuthentication
  /** Every signed-in person; the route restricts what it returns. */
  | { role: 'person' }
  /** Everyone; `request.person` is set for a signed-in person. */
  | { role: 'visitor' }

/** Visitors of the website of a Space, with their session. No other credential counts. */
export interface VisitAuthentication {
  /** The organisation of the Space; throws for a session that is not valid. Reads memory only. */
  visit(request: FastifyRequest): Caller
}

/**
 * Who may call a route: an organisation with its API key, people by their role, visitors, or everyone. Every route sets it in `config.auth`.
 * `own page`: everyone, but changes only from a page of this server, which they must state.
 */
export type RouteAuthentication = 'organisation' | RoleAuthentication | VisitAuthentication | 'none' | 'own page'
