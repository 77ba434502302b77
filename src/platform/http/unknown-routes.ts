import { AppError } from '../kernel/index.ts'
import { authenticateOrganisation, type Authenticators } from './identity.ts'
import type { Caller } from './caller.ts'
import type { Visit } from './visit.ts'

/** Longest part of a path that an error quotes. */
const shownPathLength = 200

/** Longest path in the log, in characters. */
const maximumLoggedPath = 200

export type UnknownRoutes = ReturnType<typeof createUnknownRoutes>

/**
 * 405 with `allow` if the path exists with other methods, else 404. Below the gateway's prefix the key and the organisation's access
 * are checked first, for every path. `assertGatewayAccess` throws if the organisation may not use the gateway.
 */
export function createUnknownRoutes(authenticators: Authenticators, assertGatewayAccess: (caller: Caller) => void) {
  const known: { methods: Set<string>; pattern: RegExp }[] = []
  /** The parts of all routes that no client chooses. */
  const words = new Set([''])
  return {
    /** Registers a route, so that its path with another method is a 405. */
    add(method: string | string[], url: string): void {
      known.push({ methods: new Set([method].flat()), pattern: toPattern(url) })
      for (const part of url.split('/')) if (!/^[:*]/.test(part)) words.add(part)
    },
    /**
     * The path of a request without a route, for the log: `*` for each part that is not in a route. Parts can be tokens of links, in any
     * spelling and at any place, so only known words are shown.
     */
    loggable(url: string): string {
      const path = url.slice(0, maximumLoggedPath).split(/[?#]/, 1)[0]!
      return path
        .split('/')
        .map((part) => (words.has(part) ? part : '*'))
        .join('/')
    },
    /** Throws the error for a request without a route. */
    refuse(visit: Visit): never {
      const path = pathOf(visit.raw.url!)
      if (/^\/v[12]\/gateway(?:\/|$)/.test(path)) {
        visit.organisation = authenticateOrganisation(visit, authenticators)
        assertGatewayAccess(visit.organisation)
      }
      const allowed = new Set(known.flatMap(({ methods, pattern }) => (pattern.test(path) ? [...methods] : [])))
      const method = visit.raw.method!.slice(0, 20)
      // A file that does not exist has the method of its route.
      if (allowed.size > 0 && !allowed.has(method)) {
        const list = [...allowed].sort().join(', ')
        visit.header('allow', list)
        throw new AppError('method_not_allowed', `${method} is not allowed here; allowed: ${list}.`)
      }
      const shown = path.length > shownPathLength ? `${path.slice(0, shownPathLength)}…` : path
      throw new AppError('not_found', `There is no ${method} ${shown}. GET /openapi.json lists all routes.`)
    },
  }
}

function pathOf(url: string): string {
  const path = url.split(/[?#]/, 1)[0] || '/'
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** The pattern of a route's url: `:name` matches one part, `*` the rest. */
function toPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part === '*') return '.*'
    return part.startsWith(':') ? '[^/]+' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  })
  return new RegExp(`^${parts.join('/')}$`, 's')
}
