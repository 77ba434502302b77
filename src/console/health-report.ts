import {
  type ConsoleHealthBody,
  type FailingDeploymentBody,
  healthDays,
  maximumHealthEvents,
} from '../contract/console-health.ts'
import { percentilesOf } from '../gateway/billing/index.ts'
import type { LiveCatalogue } from '../gateway/models/index.ts'
import type { FailureNow, StoredHistory } from '../gateway/routing/index.ts'
import type { Clock } from '../platform/kernel/index.ts'

const dayMs = 86_400_000

export interface HealthReportDependencies {
  /** Counts since a day, UTC, with at most this many events. */
  loadHistory: (from: string, maximumEvents: number) => Promise<StoredHistory>
  loadFailures: () => Promise<FailureNow[]>
  catalogue: Pick<LiveCatalogue, 'built'>
  clock: Clock
}

export interface HealthReport {
  load(): Promise<ConsoleHealthBody>
  loadFailing(): Promise<FailingDeploymentBody[]>
}

interface Place {
  model: string
  provider: string
}

/** Health of providers from what the instances have counted; deployments that are not in the catalogue any more are left out. */
export function createHealthReport(dependencies: HealthReportDependencies): HealthReport {
  const { loadHistory, loadFailures, catalogue, clock } = dependencies
  const places = () => {
    const found = new Map<string, Place>()
    for (const model of catalogue.built().models.values()) {
      for (const { deployment } of model.all)
        found.set(deployment.id, { model: model.id, provider: deployment.providerId })
    }
    return found
  }
  return {
    async load() {
      const known = places()
      const days = Array.from({ length: healthDays }, (_, index) =>
        new Date(clock.now() - (healthDays - 1 - index) * dayMs).toISOString().slice(0, 10),
      )
      const [history, failures] = await Promise.all([loadHistory(days[0]!, maximumHealthEvents), loadFailures()])
      const failing = renderFailing(failures, known)
      const enabledOf = (id: string) => catalogue.built().providers.get(id)?.enabled ?? true
      return {
        from: days[0]!,
        to: days.at(-1)!,
        failing,
        providers: renderProviders({ history, days, known, failing, enabledOf }),
        events: history.events.flatMap((event) =>
          event.kind === 'opened' || event.kind === 'closed'
            ? [
                {
                  at: event.at.toISOString(),
                  deployment: event.deploymentId,
                  model: known.get(event.deploymentId)?.model ?? null,
                  provider: known.get(event.deploymentId)?.provider ?? null,
                  instance: event.instanceId.slice(0, 8),
                  kind: event.kind,
                  errorClass: event.errorClass,
                  status: event.status,
                },
              ]
            : [],
        ),
      }
    },
    loadFailing: async () => renderFailing(await loadFailures(), places()),
  }
}

function renderFailing(failures: readonly FailureNow[], known: ReadonlyMap<string, Place>): FailingDeploymentBody[] {
  return failures.flatMap(({ deploymentId, kind, since, ...failure }) => {
    const place = known.get(deploymentId)
    if (!place || (kind !== 'circuit' && kind !== 'account')) return []
    return [{ deployment: deploymentId, ...place, kind, since: since.toISOString(), ...failure }]
  })
}

interface Rendered {
  history: StoredHistory
  days: readonly string[]
  known: ReadonlyMap<string, Place>
  failing: readonly FailingDeploymentBody[]
  enabledOf: (providerId: string) => boolean
}

function renderProviders({ history, days, known, failing, enabledOf }: Rendered): ConsoleHealthBody['providers'] {
  const providerOf = ({ deploymentId }: { deploymentId: string }) => known.get(deploymentId)?.provider
  const deploymentOf = ({ deploymentId }: { deploymentId: string }) => deploymentId
  const group = { days: Map.groupBy(history.days, providerOf), errors: Map.groupBy(history.errors, providerOf) }
  const durations = Map.groupBy(history.durations, providerOf)
  const failingOf = Map.groupBy(failing, ({ provider }) => provider)
  const ids = new Set([...group.days.keys(), ...failingOf.keys()].filter((id) => id !== undefined))
  return [...ids]
    .map((id) => {
      const counted = group.days.get(id) ?? []
      const measured = durations.get(id) ?? []
      const byDay = Map.groupBy(counted, ({ day }) => day)
      const byDeployment = Map.groupBy(counted, deploymentOf)
      const classes = Map.groupBy(group.errors.get(id) ?? [], ({ errorClass }) => errorClass)
      return {
        id,
        enabled: enabledOf(id),
        failing: new Set((failingOf.get(id) ?? []).map(({ deployment }) => deployment)).size,
        ...figuresOf(counted, measured),
        days: days.map((day) => {
          const { calls, errors } = sumOf(byDay.get(day) ?? [])
          return { day, calls, errors }
        }),
        errorClasses: [...classes]
          .map(([name, rows]) => ({ class: name, calls: rows.reduce((sum, { calls }) => sum + calls, 0) }))
          .toSorted((one, other) => other.calls - one.calls),
        deployments: [...byDeployment]
          .map(([deploymentId, rows]) => ({
            id: deploymentId,
            model: known.get(deploymentId)!.model,
            ...figuresOf(
              rows,
              measured.filter((one) => one.deploymentId === deploymentId),
            ),
          }))
          .toSorted((one, other) => other.calls - one.calls),
      }
    })
    .toSorted((one, other) => other.failing - one.failing || other.errors - one.errors || other.calls - one.calls)
}

function sumOf(rows: StoredHistory['days']) {
  const sum = (field: 'answered' | 'failed' | 'limited' | 'rejected' | 'broken') =>
    rows.reduce((total, row) => total + row[field], 0)
  return {
    calls: sum('answered') + sum('failed') + sum('rejected'),
    errors: sum('failed') + sum('broken'),
    rateLimited: sum('limited'),
  }
}

function figuresOf(rows: StoredHistory['days'], durations: StoredHistory['durations']) {
  const { calls, errors, rateLimited } = sumOf(rows)
  const buckets = durations.flatMap((one) => one.buckets)
  const percentiles = (of: 'firstBytes' | 'totals') =>
    percentilesOf(
      buckets,
      durations.flatMap((one) => one[of]),
    )
  return {
    calls,
    errors,
    rateLimited,
    availability: calls === 0 ? null : Math.max(0, 1 - errors / calls),
    firstBytesMs: percentiles('firstBytes'),
    totalMs: percentiles('totals'),
  }
}
