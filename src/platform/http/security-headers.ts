import type { FastifyReply, FastifyRequest } from 'fastify'

/** The API page needs its scripts and styles, images in its style sheet, and calls of this API. */
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
/** API responses are not pages. */
const apiPolicy = "default-src 'none'; frame-ancestors 'none'"

const everyHeader = { 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer' }

/** Those of an API response, names and values in turn, without `cache-control`. */
export const apiHeaders: readonly string[] = [
  ...Object.entries(everyHeader).flat(),
  'content-security-policy',
  apiPolicy,
]

/** Headers for browsers, on every response. Caches must not store responses, except for the public API page. */
export function addSecurityHeaders(request: FastifyRequest, reply: FastifyReply): void {
  const isPage = /^\/docs(?:[/?#]|$)/.test(request.url)
  reply.headers(everyHeader)
  reply.header('content-security-policy', isPage ? pagePolicy : apiPolicy)
  if (!isPage) reply.header('cache-control', 'no-store')
}
