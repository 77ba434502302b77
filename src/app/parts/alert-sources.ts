import { countJournalRejects, hasJournalEnd, loadFastSpenders, loadUsedBudgets } from '../../gateway/billing/index.ts'
import type { LiveCatalogue } from '../../gateway/models/index.ts'
import { type FailureNow, loadCalledToday, loadFailures } from '../../gateway/routing/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { loadQueueState } from '../../platform/jobs/index.ts'
import { type Clock, formatPicoUsd, sharedOwner } from '../../platform/kernel/index.ts'
import {
  type AlertCondition,
  type AlertSources,
  loadAuditFindings,
  loadCertificates,
  loadDisks,
} from '../../tenants/alerts/index.ts'

const queueTimeoutMs = 5_000
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/** A process reports its disk every minute. */
const diskWithinMs = 10 * minuteMs
/** A job that was given up is an alert for a day. */
const givenUpMs = dayMs
const usedUpPercent = 100

interface SourceDependencies {
  control: Database
  corpus: Database
  catalogue: Pick<LiveCatalogue, 'built'>
  /** undefined: this installation has no journal. */
  journalFolder: string | undefined
  clock: Clock
}

/** Where the conditions of alerts are found. */
export function createAlertSources(deps: SourceDependencies): AlertSources {
  const { control, clock } = deps
  const shared = control.for(sharedOwner)
  return {
    async budget(threshold) {
      const used = await loadUsedBudgets(shared, clock.now(), threshold)
      return used.flatMap((one) => {
        const percents = [...new Set([threshold, usedUpPercent])]
        return percents
          .filter(
            (percent) => one.spentPicoUsd * 100n >= (one.budgetPicoUsd * BigInt(Math.round(percent * 100))) / 100n,
          )
          .map((percent): AlertCondition => ({
            subject: `${one.organisationId} ${one.period} ${percent}`,
            organisationId: one.organisationId,
            severity: percent >= usedUpPercent ? 'critical' : 'warning',
            title: `${one.name} has used ${percent} % of its budget.`,
            details: {
              organisation: one.name,
              percent,
              period: one.period,
              budgetUsd: formatPicoUsd(one.budgetPicoUsd),
              spentUsd: formatPicoUsd(one.spentPicoUsd),
            },
          }))
      })
    },
    async velocity(ratio) {
      const fast = await loadFastSpenders(shared, clock.now(), ratio)
      return fast.map(({ organisationId, name, spentPicoUsd, usualPicoUsd }): AlertCondition => {
        const [spentUsd, usualUsd] = [formatPicoUsd(spentPicoUsd), formatPicoUsd(usualPicoUsd)]
        return {
          subject: organisationId,
          severity: 'warning',
          title: `${name} spent ${spentUsd} US dollars in an hour, which usually costs ${usualUsd}.`,
          details: { organisation: name, organisationId, spentUsd, usualUsd },
        }
      })
    },
    async provider(minutes) {
      const [failing, called] = await Promise.all([loadLasting(deps, minutes), loadCalledToday(shared)])
      return failingProviders(deps, failing, called)
    },
    model: async (minutes) => failingModels(deps, await loadLasting(deps, minutes)),
    async disk(percent) {
      const disks = await loadDisks(shared, diskWithinMs)
      return disks.flatMap(({ host, folder, freeBytes, totalBytes }) => {
        const freePercent = totalBytes === 0 ? 100 : Math.floor((freeBytes * 100) / totalBytes)
        if (freePercent >= percent) return []
        const title = `The disk of ${folder} on ${host} has ${freePercent} % of its space left.`
        const severity = freePercent < percent / 2 ? ('critical' as const) : ('warning' as const)
        return [{ subject: `${host} ${folder}`, severity, title, details: { host, folder, freePercent, freeBytes } }]
      })
    },
    async certificate(days) {
      const certificates = await loadCertificates(shared, dayMs)
      return certificates.flatMap(({ host, endsAt }): AlertCondition[] => {
        const leftMs = endsAt.getTime() - clock.now()
        if (leftMs > days * dayMs) return []
        const [day, state] = [endsAt.toISOString().slice(0, 10), leftMs <= 0 ? 'ended' : 'ends']
        const severity = state === 'ended' ? 'critical' : 'warning'
        const title = `The certificate of ${host} ${state} on ${day}.`
        return [{ subject: `${host} ${day} ${state}`, severity, title, details: { host, day, state } }]
      })
    },
    ledger: () => loadLedgerTroubles(deps),
    jobs: (attempts) => loadFailingJobs(deps, attempts),
  }
}

/** What has failed for at least some minutes. */
async function loadLasting({ control, clock }: SourceDependencies, minutes: number): Promise<FailureNow[]> {
  const failures = await loadFailures(control.for(sharedOwner))
  return failures.filter(({ since }) => clock.now() - since.getTime() >= minutes * minuteMs)
}

/** Providers of which every deployment that was called today fails. */
function failingProviders(
  { catalogue }: SourceDependencies,
  failures: readonly FailureNow[],
  called: readonly string[],
): AlertCondition[] {
  const failing = new Set(failures.map(({ deploymentId }) => deploymentId))
  const places = [...catalogue.built().models.values()].flatMap((model) =>
    model.all.map(({ deployment }) => ({ id: deployment.id, provider: deployment.providerId })),
  )
  const used = new Set([...called, ...failing])
  const byProvider = Map.groupBy(
    places.filter(({ id }) => used.has(id)),
    ({ provider }) => provider,
  )
  return [...byProvider].flatMap(([provider, deployments]) => {
    if (!deployments.every(({ id }) => failing.has(id))) return []
    const reason = failures.find(({ deploymentId }) => deploymentId === deployments[0]!.id)?.errorClass ?? 'unknown'
    const title = `The provider ${provider} fails: ${deployments.length} of its deployments cannot be called (${reason}).`
    return [
      {
        subject: provider,
        severity: 'critical',
        title,
        details: { provider, deployments: deployments.length, reason },
      },
    ]
  })
}

/** Models of which every deployment fails. */
function failingModels({ catalogue }: SourceDependencies, failures: readonly FailureNow[]): AlertCondition[] {
  const reasons = new Map(failures.map(({ deploymentId, errorClass }) => [deploymentId, errorClass ?? 'unknown']))
  return [...catalogue.built().models.values()].flatMap((model): AlertCondition[] => {
    const { deployments } = model
    if (deployments.length === 0 || !deployments.every(({ id }) => reasons.has(id))) return []
    const reason = reasons.get(deployments[0]!.id)!
    const title = `The model ${model.id} fails at every provider (${reason}).`
    return [{ subject: model.id, severity: 'critical', title, details: { model: model.id, reason } }]
  })
}

async function loadLedgerTroubles({ control, journalFolder }: SourceDependencies): Promise<AlertCondition[]> {
  const shared = control.for(sharedOwner)
  const [rejects, findings] = await Promise.all([countJournalRejects(shared), loadAuditFindings(shared)])
  const conditions: AlertCondition[] = []
  const add = (subject: string, title: string, details: AlertCondition['details']) =>
    conditions.push({ subject, severity: 'critical', title, details: { problem: subject, ...details } })
  if (rejects > 0) add('journal-rejects', `The database refused ${rejects} records of a journal.`, { count: rejects })
  if (findings > 0) add('audit-findings', `The last audit has ${findings} findings.`, { count: findings })
  if (journalFolder !== undefined && !hasJournalEnd(journalFolder)) {
    add('journal-end', `The mark of the journal's end in ${journalFolder} is missing.`, { folder: journalFolder })
  }
  return conditions
}

async function loadFailingJobs({ corpus, clock }: SourceDependencies, attempts: number): Promise<AlertCondition[]> {
  const { failing, givenUp } = await loadQueueState(corpus.for(sharedOwner), queueTimeoutMs)
  const retried = Map.groupBy(
    failing.filter((job) => job.attempt >= attempts),
    ({ kind }) => kind,
  )
  const ended = Map.groupBy(
    givenUp.filter(({ at }) => clock.now() - at.getTime() < givenUpMs),
    ({ kind }) => kind,
  )
  return [
    ...[...retried].map(([kind, jobs]): AlertCondition => ({
      subject: `retried ${kind}`,
      severity: 'warning',
      title: `Jobs of the kind ${kind} have failed ${jobs[0]!.attempt} times and are tried again.`,
      details: { job: kind, attempts: jobs[0]!.attempt, state: 'retried' },
    })),
    ...[...ended].map(([kind, jobs]): AlertCondition => ({
      subject: `given-up ${kind}`,
      severity: 'critical',
      title: `Jobs of the kind ${kind} were given up after ${jobs[0]!.attempts} attempts.`,
      details: { job: kind, attempts: jobs[0]!.attempts, state: 'given-up' },
    })),
  ]
}
