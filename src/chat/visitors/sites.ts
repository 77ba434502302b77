import { randomUUID } from 'node:crypto'
import type { ChangeSite } from '../../contract/sites.ts'
import {
  AppError,
  type ChangeSource,
  type Clock,
  createSnapshot,
  createSnapshotReloader,
  isUuid,
  maximumPicoUsd,
  parsePicoUsd,
  invalidField,
} from '../../platform/kernel/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import type { Space } from '../spaces/index.ts'
import { proposeName, type Site } from './site.ts'
import { hashPassword } from './site-password.ts'
import { type SiteStore, sitesTopic } from './sites.store.ts'

/** `get` and `find` read memory. Each change is visible in it before the promise of the change resolves. */
export type Sites = Awaited<ReturnType<typeof createSites>>

export interface SitesDependencies {
  store: SiteStore
  getSpace: (id: string) => Space | undefined
  changeFeed: ChangeSource
  clock: Clock
}

/** A site that answers: it is on, and its Space is published. It may be paused. */
export interface OpenSite {
  site: Site
  space: Space
}

/** Loads all sites into memory. The change feed, which must be started, keeps them current. */
export async function createSites({ store, getSpace, changeFeed, clock }: SitesDependencies) {
  const snapshot = createSnapshot(({ spaceId }: Site) => spaceId, {
    name: ({ name }) => name,
    publicId: ({ publicId }) => publicId,
  })
  const reloader = await createSnapshotReloader({
    changeFeed,
    topic: sitesTopic,
    loadAll: store.loadAll,
    loadMany: store.loadMany,
    snapshot,
  })

  const get = (spaceId: string) => snapshot.get(spaceId.toLowerCase())
  /** By a name or a public id. */
  const findAny = (place: string) =>
    isUuid(place) ? snapshot.find('publicId', place.toLowerCase()) : snapshot.find('name', place)

  function open(site: Site | undefined): OpenSite | undefined {
    const space = site?.enabled ? getSpace(site.spaceId) : undefined
    return space?.published ? { site: site!, space } : undefined
  }

  async function update(
    space: Space,
    actor: Actor,
    action: 'site.paused' | 'site.resumed' | 'site.updated',
    change: (current: Site | undefined) => Site,
  ) {
    const { id: spaceId, organisationId } = space
    const next = await store.update({ spaceId, organisationId, actor, action, change })
    await changeFeed.caughtUp()
    return get(space.id) ?? next
  }

  const setPaused = (space: Space, paused: boolean, actor: Actor) =>
    update(space, actor, paused ? 'site.paused' : 'site.resumed', (current) => {
      if (!current) throw noSite()
      if (current.paused === paused) return current
      return { ...current, paused, generation: current.generation + 1, updatedAt: clock.now() }
    })

  return {
    /** Of a Space, whatever its state. */
    get,
    /** By its name or its public id; undefined where it does not answer. */
    find: (place: string): OpenSite | undefined => open(findAny(place)),
    /** What the page at this place sends as `frame-ancestors`; undefined where nothing answers. */
    pagePolicyOf(place: string): { frameAncestors: string[] } | undefined {
      const found = open(findAny(place))
      return found && { frameAncestors: ["'self'", ...found.site.settings.allowedOrigins] }
    },
    /** True while sessions of this generation are valid. */
    isCurrent(spaceId: string, generation: number): boolean {
      const found = open(get(spaceId))
      return found !== undefined && !found.site.paused && found.site.generation === generation
    },
    proposeName: (space: Space): string => proposeName(space.name, (name) => snapshot.find('name', name) !== undefined),
    /** `generation`: of the site that was read, 0 for none; undefined: whatever is there. Throws `conflict` and `invalid_request`. */
    async change(space: Space, given: ChangeSite, actor: Actor, generation?: number): Promise<Site> {
      const { password, ...change } = given
      const passwordHash = password === undefined ? undefined : await hashPassword(password)
      return update(space, actor, 'site.updated', (current) => {
        if (generation !== undefined && generation !== (current?.generation ?? 0))
          throw new AppError('conflict', 'The chat was changed by someone else. Load it again.', { param: 'if-match' })
        return makeSite(space, current, { ...change, passwordHash }, clock.now())
      })
    },
    /** Throws `not_found` where none was set up. */
    pause: (space: Space, actor: Actor) => setPaused(space, true, actor),
    resume: (space: Space, actor: Actor) => setPaused(space, false, actor),
    close: reloader.close,
  }
}

const noSite = () => new AppError('not_found', 'The Space has no chat page yet. Set it up first.')

function makeSite(
  { id: spaceId, organisationId }: Space,
  current: Site | undefined,
  given: Omit<ChangeSite, 'password'> & { passwordHash: string | undefined },
  nowMs: number,
): Site {
  const { enabled, name, dailyCapUsd, passwordHash: newHash, ...settings } = given
  const passwordHash = settings.access === 'password' ? (newHash ?? current?.passwordHash ?? null) : null
  if (settings.access === 'password' && passwordHash === null)
    throw invalidField('password', '`password` is required when `access` becomes `password`.')
  if (settings.access === 'members' && settings.allowedOrigins.length > 0)
    throw invalidField(
      'allowedOrigins',
      '`allowedOrigins` must be empty when `access` is `members`: browsers send no sign-in to a page of another website.',
    )
  return {
    spaceId,
    organisationId,
    name,
    publicId: current?.publicId ?? randomUUID(),
    enabled,
    paused: current?.paused ?? false,
    settings,
    passwordHash,
    dailyCapPicoUsd: readCap(dailyCapUsd),
    generation: (current?.generation ?? 0) + 1,
    updatedAt: nowMs,
  }
}

function readCap(given: string | number): bigint {
  let cap: bigint
  try {
    cap = parsePicoUsd(given)
  } catch (cause) {
    throw new AppError('invalid_request', '`dailyCapUsd` must be US dollars with at most 12 decimals.', {
      param: 'dailyCapUsd',
      cause,
    })
  }
  if (cap < 0n || cap > maximumPicoUsd) throw invalidField('dailyCapUsd', '`dailyCapUsd` must be from 0 to 4000000.')
  return cap
}
