import type {
  DeploymentState,
  DeploymentsView,
  DeploymentsViewQuery,
  DeploymentView,
} from '../../../contract/console-models.ts'
import { type HealthView, type TrafficView, trafficSlotMs, trafficSlots } from '../deployment-health.ts'
import { priceInForce } from '../create-catalogue.ts'
import { describeAccountError, perMillion } from '../render-catalogue.ts'
import { allEntries, type Entry, isoOrNull, matches, pageOf, type ViewContext } from './view-context.ts'

export function deploymentsView(context: ViewContext, query: DeploymentsViewQuery): DeploymentsView {
  const { instance, clock } = context
  const nowMs = clock.now()
  const observed = allEntries(context.catalogue)
    .filter(({ deployment, model }) => {
      if (query.provider !== undefined && deployment.providerId !== query.provider) return false
      if (query.model !== undefined && model.id !== query.model) return false
      return matches(query.search, deployment.id, model.id, deployment.providerId, deployment.wire.id)
    })
    .map((entry) => observe(context, entry, nowMs))
  const groups = Map.groupBy(observed, ({ state }) => groupOfState[state])
  const counts = {
    all: observed.length,
    trouble: groups.get('trouble')?.length ?? 0,
    serving: groups.get('serving')?.length ?? 0,
    disabled: groups.get('disabled')?.length ?? 0,
  }
  const found = query.state === 'all' ? observed : (groups.get(query.state) ?? [])
  const sorted = found.toSorted(
    (left, right) =>
      rankOfState[left.state] - rankOfState[right.state] ||
      (right.traffic?.requests ?? 0) - (left.traffic?.requests ?? 0) ||
      (left.entry.deployment.id < right.entry.deployment.id ? -1 : 1),
  )
  return {
    instance: { name: instance.name, startedAt: new Date(instance.startedAt).toISOString() },
    now: new Date(nowMs).toISOString(),
    windowSeconds: (trafficSlots * trafficSlotMs) / 1000,
    slotSeconds: trafficSlotMs / 1000,
    total: found.length,
    counts,
    items: pageOf(sorted, query).map((one) => renderObserved(context, one, nowMs)),
  }
}

interface Observed {
  entry: Entry
  health: HealthView
  traffic: TrafficView | null
  state: DeploymentState
  problem: string | null
}

const groupOfState = {
  open: 'trouble',
  half_open: 'trouble',
  rate_limited: 'trouble',
  problem: 'trouble',
  avoided: 'trouble',
  serving: 'serving',
  idle: 'idle',
  disabled: 'disabled',
} as const satisfies Record<DeploymentState, string>

/** A deployment that cannot be called at all is less urgent than one that has stopped answering. */
const rankOfState: Record<DeploymentState, number> = {
  open: 0,
  half_open: 1,
  rate_limited: 2,
  avoided: 3,
  serving: 4,
  problem: 5,
  idle: 6,
  disabled: 7,
}

export function observe(context: ViewContext, entry: Entry, nowMs: number): Observed {
  const { deployment } = entry
  const health = context.deploymentHealth.health(deployment.id)
  const traffic = context.deploymentHealth.traffic(deployment.id)
  const accountProblem = health.accountError && describeAccountError(health.accountError, deployment)
  return {
    entry,
    health,
    traffic,
    state: stateOf(context, entry, { health, traffic, nowMs }),
    problem: entry.problem ?? accountProblem ?? dateProblem(entry, nowMs),
  }
}

/** What keeps it from being called today, although its declaration is complete. */
function dateProblem({ model, deployment }: Entry, nowMs: number): string | null {
  if (model.retiresAt !== null && nowMs >= model.retiresAt)
    return `its provider switched the model off on ${new Date(model.retiresAt).toISOString().slice(0, 10)}`
  return priceInForce(deployment, nowMs) ? null : 'its first price is not in force yet'
}

function stateOf(
  { catalogue }: ViewContext,
  entry: Entry,
  { health, traffic, nowMs }: { health: HealthView; traffic: TrafficView | null; nowMs: number },
): DeploymentState {
  const isProviderEnabled = catalogue.built().providers.get(entry.deployment.providerId)?.enabled !== false
  if (!entry.enabled || !entry.model.enabled || !isProviderEnabled) return 'disabled'
  if (!isCallable(entry, nowMs)) return 'problem'
  if (health.circuit !== 'closed') return health.circuit
  if (health.rateLimitedUntil !== null) return 'rate_limited'
  if (health.accountError !== null || health.avoidedUntil !== null) return 'avoided'
  return traffic !== null && traffic.requests > 0 ? 'serving' : 'idle'
}

export function isCallable({ problem, deployment, model }: Entry, nowMs: number): boolean {
  const isRetired = model.retiresAt !== null && nowMs >= model.retiresAt
  return problem === null && model.enabled && !isRetired && priceInForce(deployment, nowMs) !== undefined
}

export function renderObserved(
  { catalogue }: ViewContext,
  { entry, health, traffic, state, problem }: Observed,
  nowMs: number,
): DeploymentView {
  const { deployment, model, origin, declaredIn, enabled } = entry
  const price = priceInForce(deployment, nowMs)
  const { accountError: _account, blockedUntil: _blocked, lastError, ...shown } = health
  return {
    id: deployment.id,
    model: model.id,
    kind: model.kind,
    provider: deployment.providerId,
    wireId: deployment.wire.id,
    declaredIn,
    isOverridden: origin === 'operator' && declaredIn !== 'operator',
    enabled,
    state,
    problem,
    hosting: deployment.hosting,
    side: deployment.side,
    region: deployment.region,
    weight: deployment.weight,
    version: catalogue.versionOf('deployment', deployment.id),
    share: shareOf(entry, nowMs),
    price: price ? perMillion(price.base) : null,
    health: {
      ...shown,
      since: isoOrNull(health.since),
      openUntil: isoOrNull(health.openUntil),
      rateLimitedUntil: isoOrNull(health.rateLimitedUntil),
      avoidedUntil: isoOrNull(health.avoidedUntil),
      lastError: lastError && { ...lastError, at: new Date(lastError.at).toISOString() },
    },
    traffic: traffic && renderTraffic(traffic),
  }
}

function renderTraffic(traffic: TrafficView): NonNullable<DeploymentView['traffic']> {
  return {
    ...traffic,
    lastCallAt: isoOrNull(traffic.lastCallAt),
    slots: traffic.requests === 0 && traffic.errors === 0 ? [] : traffic.slots,
  }
}

/** By weight, before health is considered. */
function shareOf(entry: Entry, nowMs: number): number | null {
  if (!isCallable(entry, nowMs)) return null
  const { side } = entry.deployment
  const rivals = entry.model.all.filter(
    (one) => one.deployment.side === side && isCallable({ ...one, model: entry.model }, nowMs),
  )
  const total = rivals.reduce((sum, one) => sum + one.deployment.weight, 0)
  return total > 0 ? entry.deployment.weight / total : null
}
