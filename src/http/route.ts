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
  /** Throws `rate_limit_exceeded`. `leave` is called once, when the request has ended. `rate` is null without a rate limit. */
  enter(caller: Caller, kind: LimitedKind): { leave(): void; rate: RateLimitState | null }
}

/** Who may call a route: an organisation with its API key, the operator, or everyone. Every route sets it in `config.auth`. */
export type RouteAuthentication = 'organisation' | 'operator' | 'none'

declare module 'fastify' {
  interface FastifyContextConfig {
    auth?: RouteAuthentication
    /** Counts towards the organisation's limits while it runs. */
    limited?: LimitedKind
    /** Parses the JSON body of routes with large bodies; its result is `request.body`. */
    body?: BodyReader
  }
  interface FastifyInstance {
    /** A client that reads nothing of its response for this time is disconnected. */
    stalledClientMs: number
  }
  interface FastifyRequest {
    /** Set on routes with `auth: 'organisation'`. */
    organisation: Caller
    /** The id in `x-request-id`, the log and the usage record. */
    requestId: RequestId
    /** Aborts when the client's socket closes before the end of the response, or when the grace period of a stop is over. */
    clientSignal: AbortSignal
    /** The share of the JSON body in the budget for bodies in flight. */
    bodyAccount: BodyAccount | undefined
  }
}

/** A group of routes. src/service/routes.ts lists all groups in the order in which `createServer` registers them. */
export type Routes = (app: App) => void

/** Makes the options of routes with one tag; `schema` completes their entry in the API description. */
export function describeRoutes(auth: RouteAuthentication, tag: string) {
  return <Schema extends object>(operationId: string, summary: string, schema: Schema) => ({
    config: { auth },
    schema: { tags: [tag], operationId, summary, ...schema },
  })
}
