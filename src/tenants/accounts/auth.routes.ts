import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App, Routes } from '../../platform/http/index.ts'
import type { Accounts } from './accounts.ts'
import { authPath } from './sign-in-request.ts'

/** More than every field of the sign-in endpoints together. */
const maximumBodyBytes = 16 * 1024

/** `/api/auth/*`: sign-in, sign-out, the session, passwords and the second factor. */
export function authRoutes({ accounts }: { accounts: Accounts }): Routes {
  return (app: App) => {
    app.route({
      method: ['GET', 'POST'],
      url: `${authPath}/*`,
      // Also without a cookie: another site must not sign a person in to a foreign account.
      config: { auth: 'own page' },
      bodyLimit: maximumBodyBytes,
      schema: { hide: true } as object,
      handler: (request, reply) => answer(accounts, request, reply),
    })
  }
}

async function answer(accounts: Accounts, request: FastifyRequest, reply: FastifyReply) {
  const response = await accounts.handleSignIn({
    requestId: request.requestId,
    method: request.method,
    path: request.url.slice(authPath.length),
    headers: toHeaders(request),
    body: request.body,
    origin: originOf(request, accounts.publicUrl),
    clientAddress: request.ip,
  })
  for (const [name, value] of response.headers) if (passedHeaders.has(name)) reply.header(name, value)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) reply.header('set-cookie', cookies)
  return reply
    .code(response.status)
    .type('application/json; charset=utf-8')
    .serializer((text: string) => text)
    .send(withoutToken(await response.text()))
}

const passedHeaders = new Set(['location'])

function toHeaders({ headers }: FastifyRequest): Headers {
  const single = Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
  return new Headers(single as [string, string][])
}

/** The `Origin` of a change was checked before its body was read. Behind a proxy its scheme differs from that of the connection. */
function originOf({ method, headers, protocol, host }: FastifyRequest, publicUrl: string | undefined): string {
  if (method !== 'GET' && headers.origin !== undefined) return headers.origin
  return publicUrl === undefined ? `${protocol}://${host || 'localhost'}` : new URL(publicUrl).origin
}

/** The library repeats the session's token in some bodies. Scripts must not see it: the cookie is `HttpOnly`. */
function withoutToken(text: string): string {
  if (text === '') return 'null'
  const body = JSON.parse(text) as { token?: unknown; session?: { token?: unknown } } | null
  if (typeof body !== 'object' || body === null) return text
  delete body.token
  if (typeof body.session === 'object' && body.session !== null) delete body.session.token
  return JSON.stringify(body)
}
