import type { AdminAction } from '../../contract/admin-log.ts'
import {
  AppError,
  assertVersion,
  type ChangeSource,
  type Clock,
  createEndpointId,
  createSnapshot,
  createSnapshotReloader,
  createSpaceId,
  type Log,
  type OrganisationId,
  sharedOwner,
  type SpaceId,
  invalidField,
} from '../../platform/kernel/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import { settingsOf } from './describe-space.ts'
import { type NewSpace, type SpaceChange, changeSpace, makeSpace } from './space-change.ts'
import type { Space } from './space.ts'
import type { SpaceRemovals } from './space-removals.ts'
import { type SpaceStore, spacesTopic } from './spaces.store.ts'

/** `get` and `getEndpoint` read memory. Each change is visible in it before the promise of the change resolves. */
export type Spaces = Awaited<ReturnType<typeof createSpaces>>

export interface SpacesDependencies {
  store: SpaceStore
  removals: Pick<SpaceRemovals, 'wake'>
  /** The model of new Spaces that do not name one. */
  defaultModel: string
  /** Whether an organisation can currently call a chat model of this id. */
  isModelAvailable: (organisationId: OrganisationId, model: string) => boolean
  /** Why an unpublished Space may not be published now; null if it may. */
  publicationProblem: (space: Space) => Promise<string | null>
  changeFeed: ChangeSource
  clock: Clock
  log: Log
}

/** The Spaces in memory, by id and, while published, by endpoint id. The case of a UUID does not matter; the stored ones are in lower case. */
const createSpaceSnapshot = () =>
  createSnapshot(({ id }: Space) => id, { endpoint: ({ published, endpointId }) => (published ? endpointId : null) })

/** Loads all Spaces into memory. The change feed, which must be started, keeps them current. */
export async function createSpaces(dependencies: SpacesDependencies) {
  const { store, removals, changeFeed, clock, log } = dependencies
  const snapshot = createSpaceSnapshot()
  const reloader = await createSnapshotReloader({
    changeFeed,
    topic: spacesTopic,
    loadAll: store.loadAll,
    loadMany: store.loadMany,
    snapshot,
  })
  log.info({ spaces: snapshot.size() }, 'Spaces loaded')

  const get = (id: string) => snapshot.get(id.toLowerCase())
  const owned = (id: string) => ({ id, owner: get(id)?.organisationId ?? sharedOwner })

  async function change(
    id: string,
    action: AdminAction,
    actor: Actor,
    makeNext: (current: Space, nowMs: number) => Space,
    note: Record<string, unknown> = {},
  ) {
    const nowMs = clock.now()
    let updated: Space | undefined
    const found = await store.update(owned(id), (current) => (updated = makeNext(current, nowMs)), {
      action,
      actor,
      note,
    })
    if (!found) throw noSpace(id)
    await changeFeed.caughtUp()
    return get(id) ?? updated!
  }

  return {
    get,
    /** The Space that is published under an endpoint id; undefined where there is none at the moment. */
    getEndpoint: (endpointId: string) => snapshot.find('endpoint', endpointId.toLowerCase()),
    loadPage: store.loadPage,
    /** The model of new Spaces that do not name one. */
    defaultModel: dependencies.defaultModel,
    /** A Space that is not stored. Throws `invalid_request` with the field that breaks a rule. */
    make: (id: SpaceId, given: NewSpace) => make(dependencies, id, given),
    /** Resolves when the Spaces that other parts of the service have stored are visible. */
    whenCurrent: () => changeFeed.caughtUp(),
    wakeRemovals: () => removals.wake(),
    /** Throws `organisation_not_found`. This and `update` throw `invalid_request` with the field that breaks a rule. */
    async create(given: Omit<NewSpace, 'model'> & { model?: string | undefined }, actor: Actor): Promise<Space> {
      const model = given.model ?? dependencies.defaultModel
      const space = make(dependencies, createSpaceId(), { ...given, model })
      await store.insert(space, actor)
      await changeFeed.caughtUp()
      return space
    },
    /** This and the following methods throw `space_not_found`. `ifMatch`: as `assertVersion` has it. */
    update: (id: string, spaceChange: SpaceChange, actor: Actor, ifMatch?: string) =>
      change(id, 'space.updated', actor, (current, nowMs) => {
        assertVersion(ifMatch, settingsOf(current))
        return changeWithin(dependencies, current, spaceChange, nowMs)
      }),
    /**
     * Throws `golden_questions_not_passed` unless the gate of the Space is passed or `overrideReason` is given, which the admin log then
     * has. A published Space has no gate.
     */
    async publish(id: string, actor: Actor, overrideReason?: string): Promise<Space> {
      const note = await passGate(dependencies, get(id), overrideReason)
      return change(id, 'space.published', actor, publish, note)
    },
    unpublish: (id: string, actor: Actor) => change(id, 'space.unpublished', actor, unpublish),
    /** Every interface reports the Space as missing at once. Its documents are removed in the background, also after a restart. */
    async remove(id: string, actor: Actor): Promise<void> {
      if (!(await store.remove(owned(id), actor, clock.now()))) throw noSpace(id)
      await changeFeed.caughtUp()
      removals.wake()
    },
    close: reloader.close,
  }
}

/** Other fields can still be changed when the Space's model is no longer available. */
function changeWithin(dependencies: SpacesDependencies, current: Space, spaceChange: SpaceChange, nowMs: number) {
  const changed = changeSpace(current, spaceChange, nowMs)
  if (changed.model !== current.model) assertModel(dependencies, changed)
  return changed
}

function make(dependencies: SpacesDependencies, id: SpaceId, given: NewSpace): Space {
  const space = makeSpace(id, given, dependencies.clock.now())
  assertModel(dependencies, space)
  return space
}

function assertModel(
  { isModelAvailable }: Pick<SpacesDependencies, 'isModelAvailable'>,
  { organisationId, model }: Space,
) {
  if (isModelAvailable(organisationId, model)) return
  throw invalidField(
    'model',
    `model: the organisation cannot call a chat model \`${model.slice(0, 100)}\`. Use an id that GET /v1/gateway/models lists for it.`,
  )
}

/** What the admin log gets of the gate. */
async function passGate(
  { publicationProblem }: Pick<SpacesDependencies, 'publicationProblem'>,
  space: Space | undefined,
  overrideReason: string | undefined,
): Promise<Record<string, unknown>> {
  const problem = space && !space.published ? await publicationProblem(space) : null
  if (problem === null) return {}
  if (overrideReason === undefined) throw new AppError('golden_questions_not_passed', problem)
  return { overriddenProblem: problem, overrideReason }
}

const publish = (current: Space, nowMs: number): Space => ({
  ...current,
  published: true,
  endpointId: current.endpointId ?? createEndpointId(),
  updatedAt: nowMs,
})

const unpublish = (current: Space, nowMs: number): Space => ({ ...current, published: false, updatedAt: nowMs })

export function noSpace(id: string): AppError {
  return new AppError('space_not_found', `There is no Space ${id}.`)
}

/** Throws the same 404 for an endpoint that is unknown, not published, or of another organisation. */
export function findPublishedSpace(
  getPublishedSpace: (endpointId: string) => Space | undefined,
  endpointId: string,
  organisation: { id: string },
): Space {
  const space = getPublishedSpace(endpointId)
  if (!space || space.organisationId !== organisation.id) {
    throw new AppError(
      'endpoint_not_found',
      'There is no published Space at this endpoint. A team administrator publishes it under Published Spaces.',
      { param: 'endpointId' },
    )
  }
  return space
}
