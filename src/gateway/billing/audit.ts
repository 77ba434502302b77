import type { Database } from '../../platform/database/index.ts'
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
 * Checks on one snapshot of the database that entries, counters, leases and holds agree. Runs during normal traffic. `expiryMs`
 * null: the embedded engine, where recovery runs at start only and no hold can be stale.
 */
export function runAudit(database: Database, expiryMs: number | null): Promise<AuditReport> {
  return database.transaction(async (transaction) => {
    await transaction.execute('set transaction isolation level repeatable read')
    const findings = await loadFindings(transaction)
    // Twice the expiry: recovery by another instance may be under way.
    if (expiryMs !== null) findings.push(...(await loadStaleHolds(transaction, 2 * expiryMs)))
    return { ok: findings.length === 0, rules: auditRules, findings, totals: await loadTotals(transaction) }
  })
}
