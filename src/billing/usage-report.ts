import { formatAttoUsd, formatDecimal, formatPicoUsd } from '../kernel/index.ts'
import {
  type BudgetBody,
  type ReceiptBody,
  type UsageBody,
  type UsageDimension,
  type UsageRow,
} from '../contract/usage.ts'
import { costLines, displayedBaseCost, unroundedCost } from './prices.ts'
import type { BudgetState, Receipt } from './port.ts'
import type { UsageRange, UsageSubject } from './usage-range.ts'
import type { UsageQuery, UsageSum } from './usage.store.ts'

export function usageQuery(organisation: UsageSubject, range: UsageRange, by: readonly UsageDimension[]): UsageQuery {
  return {
    organisationId: organisation.id,
    from: range.from,
    to: range.to,
    timeZone: organisation.timeZone,
    byDay: by.includes('day'),
    byModel: by.includes('model'),
    bySurface: by.includes('surface'),
    bySpace: by.includes('space'),
  }
}

export function renderUsage(
  organisation: UsageSubject,
  range: UsageRange,
  by: UsageDimension[],
  sums: readonly UsageSum[],
): UsageBody {
  return {
    organisationId: organisation.id,
    from: range.from,
    to: range.to,
    timeZone: organisation.timeZone,
    by,
    rows: sums.map((sum) => renderRow(sum, by)),
    totals: renderRow(totalOf(sums), []),
  }
}

function totalOf(sums: readonly UsageSum[]): UsageSum {
  const counts = countColumns.map((column) => [column, sums.reduce((total, sum) => total + sum[column], 0)])
  return {
    day: null,
    model: null,
    surface: null,
    spaceId: null,
    ...(Object.fromEntries(counts) as Record<(typeof countColumns)[number], number>),
    billedPicoUsd: sums.reduce((total, sum) => total + sum.billedPicoUsd, 0n),
    writtenOffPicoUsd: sums.reduce((total, sum) => total + sum.writtenOffPicoUsd, 0n),
  }
}

function renderRow(sum: UsageSum, by: readonly UsageDimension[]): UsageRow {
  const { day, model, surface, spaceId, billedPicoUsd, writtenOffPicoUsd, ...counts } = sum
  return {
    ...(by.includes('day') ? { day: day ?? '' } : {}),
    ...(by.includes('model') ? { model: model ?? '' } : {}),
    ...(by.includes('surface') && surface !== null ? { surface } : {}),
    ...(by.includes('space') ? { spaceId } : {}),
    ...counts,
    billedUsd: formatPicoUsd(billedPicoUsd),
    writtenOffUsd: formatPicoUsd(writtenOffPicoUsd),
  }
}

const columnOf: Record<UsageDimension, keyof UsageRow> = {
  day: 'day',
  model: 'model',
  surface: 'surface',
  space: 'spaceId',
}
const countColumns = [
  'requests',
  'estimatedRequests',
  'promptTokens',
  'completionTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'reasoningTokens',
] as const

/** RFC 4180, one line per row, without the totals. */
export function renderUsageCsv({ by, rows }: UsageBody): string {
  const columns = [
    ...by.map((dimension) => columnOf[dimension]),
    ...countColumns,
    'billedUsd',
    'writtenOffUsd',
  ] as const
  const lines = [columns.join(','), ...rows.map((row) => columns.map((column) => csvCell(row[column])).join(','))]
  return `${lines.join('\r\n')}\r\n`
}

/** Text that a spreadsheet would run as a formula gets an apostrophe in front: a model's name may come from anywhere. */
export function csvCell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export function renderReceipt(receipt: Receipt): ReceiptBody {
  const { unitPrices } = receipt
  return {
    requestId: receipt.requestId,
    organisationId: receipt.organisationId,
    surface: receipt.surface,
    spaceId: receipt.spaceId,
    model: receipt.model,
    deploymentId: receipt.deploymentId,
    providerId: receipt.providerId,
    hosting: receipt.hosting,
    startedAt: new Date(receipt.startedAt).toISOString(),
    settledAt: new Date(receipt.settledAt).toISOString(),
    period: receipt.period,
    usage: receipt.usage,
    unitPricesUsdPerToken: {
      input: formatAttoUsd(unitPrices.input),
      output: formatAttoUsd(unitPrices.output),
      cacheRead: formatAttoUsd(unitPrices.cacheRead),
      cacheWrite: formatAttoUsd(unitPrices.cacheWrite),
      reasoning: formatAttoUsd(unitPrices.reasoning),
    },
    priceSource: receipt.priceSource,
    costBasis: receipt.costBasis,
    rawUsage: receipt.rawUsage,
    computation: renderComputation(receipt),
    baseCostUsd: formatPicoUsd(receipt.baseCostPicoUsd),
    markupPercent: percentOf(receipt.markupBasisPoints),
    billedUsd: formatPicoUsd(receipt.billedPicoUsd),
    writtenOffUsd: formatPicoUsd(receipt.writtenOffPicoUsd),
    estimated: receipt.estimated,
    ending: receipt.ending,
    finishReason: receipt.finishReason,
    firstTokenMs: receipt.firstTokenMs,
    failure: receipt.failure,
  }
}

/** Four more decimals than attoUsd: a markup has basis points. */
const markupDecimals = 22

function renderComputation(receipt: Receipt): ReceiptBody['computation'] {
  if (receipt.costBasis !== 'tokens') return null
  const lines = costLines(receipt.usage, receipt.unitPrices)
  const base = lines.reduce((sum, { costAttoUsd }) => sum + costAttoUsd, 0n)
  // The cost of a call that a killed process left open comes from its hold.
  if (displayedBaseCost(base) !== receipt.baseCostPicoUsd) return null
  const total = unroundedCost(base, receipt.markupBasisPoints)
  return {
    lines: lines.map(({ tokenClass, tokens, unitPriceAttoUsd, costAttoUsd }) => ({
      tokenClass,
      tokens,
      unitPriceUsd: formatAttoUsd(unitPriceAttoUsd),
      costUsd: formatAttoUsd(costAttoUsd),
    })),
    baseCostUsd: formatAttoUsd(base),
    markupUsd: formatDecimal(total - unroundedCost(base, 0), markupDecimals),
    totalUsd: formatDecimal(total, markupDecimals),
  }
}

function percentOf(basisPoints: number): string {
  const hundredths = String(Math.abs(basisPoints) % 100)
    .padStart(2, '0')
    .replace(/0+$/, '')
  return `${Math.trunc(basisPoints / 100)}${hundredths === '' ? '' : `.${hundredths}`}`
}

export function renderBudget(state: BudgetState): BudgetBody {
  const left = state.budgetPicoUsd - state.settledPicoUsd
  return {
    organisationId: state.organisationId,
    period: state.period,
    periodEndsAt: new Date(state.periodEndsAt).toISOString(),
    budgetUsd: formatPicoUsd(state.budgetPicoUsd),
    spentUsd: formatPicoUsd(state.settledPicoUsd),
    heldUsd: formatPicoUsd(state.heldPicoUsd),
    leftUsd: formatPicoUsd(left > 0n ? left : 0n),
    spentPercent:
      state.budgetPicoUsd > 0n ? Number((state.settledPicoUsd * 10_000n) / state.budgetPicoUsd) / 100 : null,
  }
}
