import type { FastifyRequest } from 'fastify'
import { AppError, type Role } from '../kernel/index.ts'

/** Probes and the description of the routes: every process serves them. */
const everywhere = new Set(['/livez', '/readyz', '/openapi.json'])

/** The role whose processes serve a path, or the pattern of a route; null: every process. */
export function roleServing(path: string): 'gateway' | 'api' | null {
  if (everywhere.has(path)) return null
  return /^\/v1\/gateway(?:\/|$)/.test(path) ? 'gateway' : 'api'
}

/** Whether completions may be answered without the hooks of Fastify, where the guard below is. */
export const servesGateway = (role: Role): boolean => role === 'all' || role === 'gateway'

/**
 * Returns the check of a process with this role: it throws `misdirected_request` for a path that another role serves. A process that serves
 * everything needs none.
 */
export function createRoleGuard(role: Role = 'all'): ((request: FastifyRequest) => void) | undefined {
  if (role === 'all') return undefined
  return (request) => {
    // The pattern of the route, so that an encoded path is judged as the router reads it.
    const serving = roleServing(request.routeOptions.url ?? request.url.split(/[?#]/, 1)[0]!)
    if (serving === null || serving === role) return
    throw new AppError(
      'misdirected_request',
      `This process has the role ${role}; processes with the role ${serving} serve this path. Send the request to one of them: the address or the load balancer in front is not set up for it.`,
    )
  }
}
