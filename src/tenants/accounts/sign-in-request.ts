export const authPath = '/api/auth'

/** Pages of the console. The sign-in library redirects browsers to them. */
export const consolePath = '/console'
export const signInPagePath = '/console/sign-in'
export const singleSignOnPagePath = '/console/operator/single-sign-on'

export interface SignInRequest {
  requestId: string
  method: string
  /** Below `/api/auth`, with the query. */
  path: string
  headers: Headers
  body: unknown
  /** Scheme and host under which the client reached the server; of a change, its checked `Origin`. */
  origin: string
  clientAddress: string
}

/** A field of the body; undefined if the body has none of this name. */
export function fieldOf({ body }: SignInRequest, name: string): unknown {
  return typeof body === 'object' ? (body as Record<string, unknown> | null)?.[name] : undefined
}
