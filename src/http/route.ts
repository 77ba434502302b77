import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { BodyReader, RequestId } from '../kernel/index.ts'
import type { LimitedKind, Organisation } from '../organisations/index.ts'
import type { BodyAccount } from './body-budget.ts'

/** The server as routes see it: zod schemas in `schema` give the types of `request.params`, `query` and `body`. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

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
    organisation: Organisation
    /** Stands in `x-request-id`, the log, the usage record. */
    requestId: RequestId
    /** Aborts when the client's socket closes before the answer's end, or when the stop's grace is over. */
    clientSignal: AbortSignal
    /** What the JSON body takes of the budget for bodies in flight. */
    bodyAccount: BodyAccount | undefined
  }
}

/** A group of routes; `createServer` registers them in order, so src/http/server.ts is the map. */
export type Routes = (app: App) => void
