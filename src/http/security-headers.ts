import type { FastifyReply, FastifyRequest } from 'fastify'

/** What the API page needs: its own scripts and styles, images that its style sheet holds, and calls of this API. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')
/** Answers of the API are never pages. */
const apiPolicy = "default-src 'none'; frame-ancestors 'none'"

/** Headers for browsers, on every answer. What is read with a key is not stored by caches on the way. */
export function addSecurityHeaders(request: FastifyRequest, reply: FastifyReply): void {
  const isPage = /^\/docs(?:[/?#]|$)/.test(request.url)
  reply.header('x-content-type-options', 'nosniff')
  reply.header('x-frame-options', 'DENY')
  reply.header('referrer-policy', 'no-referrer')
  reply.header('content-security-policy', isPage ? pagePolicy : apiPolicy)
  if (!isPage) reply.header('cache-control', 'no-store')
}
