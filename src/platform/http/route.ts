import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { MembershipRole } from '../../contract/people.ts'
import type { AppError, BodyReader, OrganisationId, RateLimitState, RequestId } from '../kernel/index.ts'
import type { CallHandler } from './call.ts'

/** The server type of routes: zod schemas in `schema` define the types of `request.params`, `query` and `body`. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

/**
 * An authenticated organisation as the server reads it. The room `organisations` extends this interface to its Organisation, which
 * is what routes find in `request.organisation`.
 */
export interface Caller {
  readonly id: OrganisationId
}

/** What an organisation's limits count: a completion or a chat, or an upload. */
export type LimitedKind = 'call' | 'upload'

/** Counts the requests that each organisation has running. */
export interface RequestLimiter {
  /** Throws `rate_limit_exceeded`. `leave` is called once, when the request has ended. `rates` has the limits per minute. */
  enter(caller: Caller, kind: LimitedKind): { leave(): void; rates: readonly RateLimitState[] }
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

/** Who may call a route: an organisation with its API key, people by their role, or everyone. Every route sets it in `config.auth`. */
export type RouteAuthentication = 'organisation' | RoleAuthentication | 'none'

declare module 'fastify' {
  interface FastifyContextConfig {
    auth?: RouteAuthentication
    /** Counts towards the organisation's limits while it runs. For routes that set `request.organisation`. */
    limited?: LimitedKind
    /** Parses the JSON body of routes with large bodies; its result is `request.body`. */
    body?: BodyReader
    /** The body may take longer than other requests, as long as it is not too slow: see slow-bodies.ts. For uploads that stream. */
    longBody?: boolean
    /** Throws if the organisation may not use the route. Runs before the body is read. */
    access?: (organisation: Caller) => void
    /**
     * Answers requests of the usual form without Fastify: see direct-calls.ts. For routes with `auth: 'organisation'` and `body`, whose handler
     * is `answerCall` of it.
     */
    direct?: CallHandler
  }
  interface FastifyInstance {
    /** A client that reads nothing of its response for this time is disconnected. */
    stalledClientMs: number
  }
  interface FastifyRequest {
    /** Set on routes with `auth: 'organisation'` or with `acting`. */
    organisation: Caller
    /** The signed-in person; undefined on requests with the operator token and on routes without a role. */
    person: Person | undefined
    /** Throws if the caller may no longer make the request. Set on routes with a role. */
    checkAccess: () => Promise<void>
    /** The id in `x-request-id`, the log and the usage record. */
    requestId: RequestId
    /** Aborts when the client's socket closes before the end of the response, or when the grace period of a stop is over. */
    clientSignal: AbortSignal
  }
}

/** A group of routes. src/app/routes.ts lists all groups in the order in which `createServer` registers them. */
export type Routes = (app: App) => void

/**
 * Makes the options of routes with one tag and, where a route does not state another, one authentication. `schema` completes their
 * entry in the API description; `more` completes their `config`.
 */
export function describeRoutes(usual: RouteAuthentication, tag: string) {
  return <Schema extends object>(
    operationId: string,
    summary: string,
    schema: Schema,
    auth: RouteAuthentication = usual,
    more: Pick<FastifyContextConfig, 'limited' | 'body' | 'longBody' | 'access' | 'direct'> = {},
  ) => ({
    config: { auth, ...more },
    schema: { tags: [tag], operationId, summary, ...schema },
  })
}
