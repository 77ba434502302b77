import { type AuditBody, type AuditFindingBody, auditSchema } from '../contract/audit.ts'
import { errorResponses } from '../contract/errors.ts'
import type { Routes } from '../http/index.ts'
import type { Clock } from '../kernel/index.ts'

/** One part of the audit; the composition names the rooms that have one. */
interface AuditCheck {
  area: string
  run(): Promise<Omit<AuditFindingBody, 'area'>[]>
}

/** `GET /api/audit`: runs every check beside the traffic and tells what does not fit. */
export function auditRoutes({ checks, clock }: { checks: readonly AuditCheck[]; clock: Clock }): Routes {
  // Checks read whole tables: all who ask while one runs share its answer.
  let running: Promise<AuditBody> | undefined

  async function audit(): Promise<AuditBody> {
    const checkedAt = new Date(clock.now()).toISOString()
    const findings: AuditFindingBody[] = []
    for (const { area, run } of checks) findings.push(...(await run()).map((finding) => ({ area, ...finding })))
    return { ok: findings.length === 0, checkedAt, areas: checks.map(({ area }) => area), findings }
  }

  return (app) => {
    app.get(
      '/api/audit',
      {
        config: { auth: 'operator' },
        schema: {
          tags: ['Operator'],
          summary: 'Prove that what is stored adds up',
          operationId: 'runAudit',
          description:
            'Ledger entries against counters, leases and holds; documents against their index. Takes as long as reading all of it; 200 also where something was found.',
          response: { 200: auditSchema, ...errorResponses(401) },
        },
      },
      () => (running ??= audit().finally(() => (running = undefined))),
    )
  }
}

/** Findings of counts that must all be zero. */
export function findingsOfCounts(counts: object): Omit<AuditFindingBody, 'area'>[] {
  return Object.entries(counts)
    .filter(([, count]) => Number(count) !== 0)
    .map(([rule, count]) => ({ rule, subject: 'all', expected: '0', found: String(count) }))
}
