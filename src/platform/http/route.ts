import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { BodyReader } from '../bodies/index.ts'
import type { RateLimitState, RequestId } from '../kernel/index.ts'
import type { CallHandler } from './visit.ts'
import type { Caller, LimitedKind, Person, RouteAuthentication } from './caller.ts'

/** The server type of routes: zod schemas in `schema` define the types of `request.params`, `query` and `body`. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** Counts the requests that each organisation has running. */
export interface RequestLimiter {
  /** Throws `rate_limit_exceeded`. `leave` is called once, when the request has ended. `rates` has the limits per minute. */
  enter(caller: Caller, kind: LimitedKind): { leave(): void; rates: readonly RateLimitState[] }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    auth?: RouteAuthentication
    /** Counts towards the organisation's limits while it runs. For routes that set `request.organisation`. */
    limited?: LimitedKind
    /** Parses the JSON body of routes with large bodies; its result is `request.body`. */
    body?: BodyReader
    /** The body may take longer than other requests, as long as it is not too slow: see body-arrival.ts. For uploads that stream. */
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

type RouteConfig = Pick<FastifyContextConfig, 'limited' | 'body' | 'longBody' | 'access' | 'direct'>

/** Makes the options of routes with one authentication and tag, from the entry in the API description and the rest of the `config`. */
export function describeRoutes(auth: RouteAuthentication, tag: string) {
  return <Schema extends object>(
    operationId: string,
    summary: string,
    { config, ...schema }: Schema & { config?: RouteConfig },
  ) => ({
    config: { auth, ...config },
    schema: { tags: [tag], operationId, summary, ...(schema as unknown as Schema) },
  })
}

/** Longest list of names in one header. */
const maximumHeaderNames = 20

/** Names chosen by a client, made safe for a header value. */
export function headerList(names: string[]): string {
  const clean = names.slice(0, maximumHeaderNames).map((name) => name.slice(0, 60).replaceAll(/[^\w.-]/g, '?'))
  return clean.join(', ') + (names.length > maximumHeaderNames ? `, and ${names.length - maximumHeaderNames} more` : '')
}
