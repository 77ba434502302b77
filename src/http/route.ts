import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { BodyReader, OrganisationId, RateLimitState, RequestId } from '../kernel/index.ts'
import type { BodyAccount } from './body-budget.ts'

/** The server as routes see it: zod schemas in `schema` give the types of `request.params`, `query` and `body`. */
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
  /** Throws `rate_limit_exceeded`. `leave` is called once, when the request has ended; `rate` is null where there is no rate limit. */
  enter(caller: Caller, kind: LimitedKind): { leave(): void; rate: RateLimitState | null }
}

/** Who may call a route: the holder of an organisation's API key, the operator, or anybody. Every route says it in `config.auth`. */
export type RouteAuthentication = 'organisation' | 'operator' | 'none'

declare module 'fastify' {
  interface FastifyContextConfig {
    auth?: RouteAuthentication
    /** Counts towards the organisation's limits while it runs. */
    limited?: LimitedKind
    /** How the JSON body is read: of routes that take large ones. `request.body` is what it returns. */
    body?: BodyReader
  }
  interface FastifyInstance {
    /** A client that reads nothing of its answer for this time is disconnected. */
    stalledClientMs: number
  }
  interface FastifyRequest {
    /** Set on routes with `auth: 'organisation'`. */
    organisation: Caller
    /** Stands in `x-request-id`, the log, the usage record. */
    requestId: RequestId
    /** Aborts when the client's socket closes before the answer's end, or when the stop's grace is over. */
    clientSignal: AbortSignal
    /** What the JSON body takes of the budget for bodies in flight. */
    bodyAccount: BodyAccount | undefined
  }
}

/** A group of routes. src/service/routes.ts lists all groups in the order in which `createServer` registers them. */
export type Routes = (app: App) => void
