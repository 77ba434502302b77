import type { OwnedDatabase } from '../../platform/database/index.ts'
import {
  type AuditFinding,
  auditRules,
  type AuditTotals,
  loadFindings,
  loadStaleHolds,
  loadTotals,
} from './audit.store.ts'

export interface AuditReport {
  /** True when nothing was found. */
  ok: boolean
  rules: readonly string[]
  findings: AuditFinding[]
  totals: AuditTotals
}

/**
 * Checks on one snapshot of the database that entries, counters, leases and holds agree. Runs during normal traffic. `staleAfterMs`: an
 * instance that is silent for so long has no holds any more, unless recovery fails; null: that cannot be known.
 */
export function runAudit(database: OwnedDatabase, staleAfterMs: number | null): Promise<AuditReport> {
  return database.transaction(async (transaction) => {
    await transaction.execute('set transaction isolation level repeatable read')
    const findings = await loadFindings(transaction)
    if (staleAfterMs !== null) findings.push(...(await loadStaleHolds(transaction, staleAfterMs)))
    return { ok: findings.length === 0, rules: auditRules, findings, totals: await loadTotals(transaction) }
  })
}
