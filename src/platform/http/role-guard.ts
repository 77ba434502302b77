import { AppError, type Role } from '../kernel/index.ts'
import type { Visit } from './visit.ts'

/** Probes and the description of the routes: every process serves them. */
const everywhere = new Set(['/livez', '/readyz', '/openapi.json'])

/** The role whose processes serve a path, or the pattern of a route; null: every process. */
export function roleServing(path: string): 'gateway' | 'api' | null {
  if (everywhere.has(path)) return null
  return /^\/v[12]\/gateway(?:\/|$)/.test(path) ? 'gateway' : 'api'
}

/**
 * Throws `misdirected_request` for a path that processes with another role serve. The pattern of the route decides, so that an encoded path is
 * judged as the router reads it.
 */
export function assertServed({ route, raw }: Visit, role: Role): void {
  if (role === 'all') return
  const serving = roleServing(route.url ?? raw.url!.split(/[?#]/, 1)[0]!)
  if (serving === null || serving === role) return
  throw new AppError(
    'misdirected_request',
    `This process has the role ${role}; processes with the role ${serving} serve this path. Send the request to one of them: the address or the load balancer in front is not set up for it.`,
  )
}
