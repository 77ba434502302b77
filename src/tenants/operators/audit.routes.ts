import { type AuditBody, type AuditFindingBody, auditSchema } from '../../contract/audit.ts'
import { errorResponses } from '../../contract/errors.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import type { Clock } from '../../platform/kernel/index.ts'

const described = describeRoutes({ role: 'operator' }, 'Operator')

/** The audit of one area. src/app/routes.ts lists all areas. */
interface AuditCheck {
  area: string
  run(): Promise<Omit<AuditFindingBody, 'area'>[]>
}

/** `GET /api/audit`: runs every check while the service handles requests, and returns all inconsistencies. */
export function auditRoutes({
  checks,
  onAudited,
  clock,
}: {
  checks: readonly AuditCheck[]
  /** Receives the findings of a run that has ended. */
  onAudited: (findings: readonly AuditFindingBody[]) => Promise<void>
  clock: Clock
}): Routes {
  // Checks read whole tables, so requests that arrive during a run share its result.
  let running: Promise<AuditBody> | undefined

  async function audit(): Promise<AuditBody> {
    const checkedAt = new Date(clock.now()).toISOString()
    const findings: AuditFindingBody[] = []
    for (const { area, run } of checks) findings.push(...(await run()).map((finding) => ({ area, ...finding })))
    await onAudited(findings)
    return { ok: findings.length === 0, checkedAt, areas: checks.map(({ area }) => area), findings }
  }

  return (app) => {
    app.get(
      '/api/audit',
      described('runAudit', 'Check the consistency of the stored data', {
        description:
          'Compares ledger entries with counters, leases and holds, and documents with their index. It reads all of this data, so it can take long. The status is 200 with and without findings.',
        response: { 200: auditSchema, ...errorResponses(401, 403) },
      }),
      () => (running ??= audit().finally(() => (running = undefined))),
    )
  }
}

/** A finding for each count that is not zero. */
export function findingsOfCounts(counts: object): Omit<AuditFindingBody, 'area'>[] {
  return Object.entries(counts)
    .filter(([, count]) => Number(count) !== 0)
    .map(([rule, count]) => ({ rule, subject: 'all', expected: '0', found: String(count) }))
}
