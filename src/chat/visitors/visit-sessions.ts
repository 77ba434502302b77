import { AppError, type Clock, type SecretBox } from '../../platform/kernel/index.ts'
import type { OpenSite, Sites } from './sites.ts'

const sessionMs = 15 * 60_000
/** A visit is renewed without password and puzzle until then. */
const visitMs = 12 * 3_600_000
const ticketMs = 30 * 86_400_000
/** Instances whose clocks differ by this much accept each other's sessions. */
const skewMs = 60_000
const sessionPrefix = 'ptv_'
const contexts = { session: 'visitor session', ticket: 'visitor ticket' }

/** Who visits, as the sealed session states it. */
export interface VisitSession {
  spaceId: string
  generation: number
  visitorId: string
  /** The origin of the page that embeds the chat; null on the share page. */
  embeddedBy: string | null
  /** A signed-in member; null elsewhere. */
  personId: string | null
  begunAt: number
  expiresAt: number
}

export type VisitSessions = ReturnType<typeof createVisitSessions>

/**
 * Sessions of visitors and tickets for cited documents: sealed, not stored. A session ends with its time, and at once with the generation of its
 * site.
 */
export function createVisitSessions({
  secretBox,
  sites,
  clock,
}: {
  secretBox: SecretBox
  sites: Pick<Sites, 'find'>
  clock: Clock
}) {
  function open(token: string): VisitSession | undefined {
    if (!token.startsWith(sessionPrefix)) return undefined
    return read<VisitSession>(token.slice(sessionPrefix.length), contexts.session)
  }

  function read<Value>(sealed: string, context: string): Value | undefined {
    try {
      return JSON.parse(secretBox.open(sealed, context)) as Value
    } catch {
      return undefined
    }
  }

  return {
    /** `before`: the session that is renewed. */
    mint(
      { site }: OpenSite,
      visitor: Pick<VisitSession, 'visitorId' | 'embeddedBy' | 'personId'>,
      before?: VisitSession,
    ): { session: string; expiresAt: number; renewableUntil: number; expiresInSeconds: number } {
      const nowMs = clock.now()
      const begunAt = before?.begunAt ?? nowMs
      const renewableUntil = begunAt + visitMs
      const expiresAt = Math.min(nowMs + sessionMs, renewableUntil)
      const session: VisitSession = {
        spaceId: site.spaceId,
        generation: site.generation,
        ...visitor,
        begunAt,
        expiresAt,
      }
      return {
        session: sessionPrefix + secretBox.seal(JSON.stringify(session), contexts.session),
        expiresAt,
        renewableUntil,
        expiresInSeconds: Math.max(0, Math.round((expiresAt - nowMs) / 1000)),
      }
    },
    /** The session of a request to this site. Reads memory only. Throws `not_found`, `site_paused` and `invalid_visit`. */
    authenticate(place: string, header: string | undefined): { session: VisitSession } & OpenSite {
      const found = openSite(sites, place)
      const token = /^Bearer (\S{1,1000})$/.exec(header ?? '')?.[1]
      const session = token === undefined ? undefined : open(token)
      if (!session || !isOf(found, session) || session.expiresAt + skewMs < clock.now()) throw invalidVisit()
      return { ...found, session }
    },
    /** A session that may be renewed for this visitor, also after its time; undefined for any other. */
    renewable(found: OpenSite, token: string, visitorId: string, embeddedBy: string | null): VisitSession | undefined {
      const session = open(token)
      if (!session || !isOf(found, session)) return undefined
      if (session.begunAt + visitMs <= clock.now()) return undefined
      return session.visitorId === visitorId && session.embeddedBy === embeddedBy ? session : undefined
    },
    /** Opens a cited document for the visitor, in each later session of the Space. */
    ticket({ spaceId, visitorId }: Pick<VisitSession, 'spaceId' | 'visitorId'>, documentId: string): string {
      return secretBox.seal(JSON.stringify([spaceId, visitorId, documentId, clock.now() + ticketMs]), contexts.ticket)
    },
    isTicket(ticket: string, { spaceId, visitorId }: VisitSession, documentId: string): boolean {
      const stated = read<[string, string, string, number]>(ticket, contexts.ticket)
      if (!stated || stated[3] + skewMs < clock.now()) return false
      return stated[0] === spaceId && stated[1] === visitorId && stated[2] === documentId.toLowerCase()
    },
  }
}

function isOf({ site }: OpenSite, { spaceId, generation }: VisitSession): boolean {
  return site.spaceId === spaceId && site.generation === generation
}

const invalidVisit = () =>
  new AppError('invalid_visit', 'The session of this visit is missing, over or no longer valid. Begin a new visit.')

/** Throws `not_found` and `site_paused`. */
export function openSite(sites: Pick<Sites, 'find'>, place: string): OpenSite {
  const found = sites.find(place)
  if (!found) throw noSite()
  if (found.site.paused) throw new AppError('site_paused', 'This chat is paused at the moment.')
  return found
}

/** The same for a name that is unknown, a site that is off, and a Space that is not published. */
export const noSite = () => new AppError('not_found', 'There is no chat at this address.')
