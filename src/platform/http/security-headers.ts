import type { Visit } from './visit.ts'

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

/** Headers for browsers, on every response. Caches must not store responses, except for the public API page. */
export function addSecurityHeaders(visit: Visit): void {
  const isPage = /^\/docs(?:[/?#]|$)/.test(visit.raw.url!)
  visit.header('x-content-type-options', 'nosniff')
  visit.header('x-frame-options', 'DENY')
  visit.header('referrer-policy', 'no-referrer')
  visit.header('content-security-policy', isPage ? pagePolicy : apiPolicy)
  if (!isPage) visit.header('cache-control', 'no-store')
}
