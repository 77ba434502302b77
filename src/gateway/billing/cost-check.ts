import type { Clock, Log } from '../../platform/kernel/index.ts'
import type { Receipt } from './port.ts'
import type { ComparedCosts } from './prices.ts'

/** A cost that its provider states, compared with ours. `above`: the provider states more. */
export type CostVerdict = 'equal' | 'above' | 'below'

/** One line per deployment and hour: what differs stays different until someone acts. */
const reportEveryMs = 60 * 60_000
/** Relative tolerance, as its inverse: 1 %. */
const tolerance = 100n
/** 1e-8 US dollars. Hosts round their costs, at the coarsest to as many decimals. */
const roundingAttoUsd = 10_000_000_000n
/** Most deployments with a report; the oldest is dropped first. */
const maximumReports = 10_000

interface Report {
  reportedAtMs: number
  calls: number
  statedAttoUsd: bigint
  computedAttoUsd: bigint
}

/**
 * Compares stated costs with tokens times prices. A difference means wrong prices here, tokens that were not counted, fees, or an error of
 * the provider. It is logged at the first call, then once an hour with the sums of the calls since.
 */
export function createCostCheck({ clock, log }: { clock: Clock; log: Log }) {
  const reports = new Map<string, Report>()

  function report(deploymentId: string, receipt: Receipt, { statedAttoUsd, computedAttoUsd }: ComparedCosts): void {
    const nowMs = clock.monotonicMs()
    const known = reports.get(deploymentId)
    if (!known && reports.size >= maximumReports) reports.delete(reports.keys().next().value!)
    const sum = known ?? { reportedAtMs: Number.NEGATIVE_INFINITY, calls: 0, statedAttoUsd: 0n, computedAttoUsd: 0n }
    sum.calls += 1
    sum.statedAttoUsd += statedAttoUsd
    sum.computedAttoUsd += computedAttoUsd
    reports.set(deploymentId, sum)
    if (nowMs - sum.reportedAtMs < reportEveryMs) return
    log.warn(
      {
        deployment: deploymentId,
        provider: receipt.providerId,
        model: receipt.model,
        calls: sum.calls,
        statedUsd: toUsd(sum.statedAttoUsd),
        computedUsd: toUsd(sum.computedAttoUsd),
        billed: receipt.costBasis,
        lastRequestId: receipt.requestId,
      },
      'the provider states another cost than tokens times prices: compare its prices and its usage with the receipt',
    )
    reports.set(deploymentId, { reportedAtMs: nowMs, calls: 0, statedAttoUsd: 0n, computedAttoUsd: 0n })
  }

  return {
    /** Never throws. */
    check(receipt: Receipt, costs: ComparedCosts): CostVerdict {
      const verdict = compareCosts(costs)
      if (verdict !== 'equal') report(receipt.deploymentId ?? '', receipt, costs)
      return verdict
    },
  }
}

/** Costs are equal if they differ by at most 1 % of the larger one, or by a rounding. */
function compareCosts({ statedAttoUsd, computedAttoUsd }: ComparedCosts): CostVerdict {
  const difference = statedAttoUsd - computedAttoUsd
  const size = difference < 0n ? -difference : difference
  const larger = difference < 0n ? computedAttoUsd : statedAttoUsd
  if (size * tolerance <= larger || size <= roundingAttoUsd) return 'equal'
  return difference > 0n ? 'above' : 'below'
}

const toUsd = (attoUsd: bigint) => Number(attoUsd) / 1e18
