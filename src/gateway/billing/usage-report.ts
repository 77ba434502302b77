import { z } from 'zod'
import { csvCell, formatAttoUsd, formatDecimal, formatPicoUsd, invalidField } from '../../platform/kernel/index.ts'
import {
  type BudgetBody,
  type ReceiptBody,
  type UsageBody,
  type UsageDimension,
  type UsageRow,
} from '../../contract/usage.ts'
import { costLines, displayedBaseCost, unroundedCost } from './prices.ts'
import type { BudgetState, Receipt } from './port.ts'
import type { UsageRange, UsageSubject } from './usage-range.ts'
import { inOrder, type UsageKey, type UsagePage, type UsageQuery, type UsageSum } from './usage.store.ts'

export function renderUsage(
  organisation: UsageSubject,
  range: UsageRange,
  by: UsageDimension[],
  { rows, next }: UsagePage,
  totals: UsageSum,
): UsageBody {
  return {
    organisationId: organisation.id,
    from: range.from,
    to: range.to,
    timeZone: organisation.timeZone,
    by,
    rows: rows.map((sum) => renderRow(sum, by)),
    totals: renderRow(totals, []),
    nextCursor: next === undefined ? null : Buffer.from(JSON.stringify(next)).toString('base64url'),
  }
}

const textOfKey = z.string().regex(/^[^\0]*$/)
const keyShapes = { day: z.iso.date(), model: textOfKey, surface: textOfKey, space: z.guid() }

/** Throws `invalid_request` unless the cursor was made for these dimensions. */
export function parseUsageCursor(cursor: string, by: readonly UsageDimension[]): UsageKey {
  const shapes = inOrder(by).map((dimension) => keyShapes[dimension])
  const key = parseJson(Buffer.from(cursor, 'base64url').toString())
  const isKey =
    Array.isArray(key) &&
    key.length === shapes.length &&
    shapes.every((shape, index) => shape.safeParse(key[index]).success)
  if (isKey) return key as UsageKey
  const message = '`cursor` is not the `nextCursor` of a page with the same `by`.'
  throw invalidField('cursor', message)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
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

/** The sums of all pages from the place of a query. */
export async function* loadUsagePages(
  { loadUsage }: { loadUsage(query: UsageQuery): Promise<UsagePage> },
  query: UsageQuery,
): AsyncGenerator<readonly UsageSum[]> {
  let after = query.after
  do {
    const { rows, next } = await loadUsage({ ...query, after })
    yield rows
    after = next
  } while (after !== undefined)
}

/** RFC 4180, one line per row, without the totals. */
export async function* renderUsageCsv(
  by: readonly UsageDimension[],
  pages: AsyncIterable<readonly UsageSum[]>,
): AsyncGenerator<string> {
  const columns = [
    ...by.map((dimension) => columnOf[dimension]),
    ...countColumns,
    'billedUsd',
    'writtenOffUsd',
  ] as const
  yield `${columns.join(',')}\r\n`
  for await (const sums of pages) {
    const rows = sums.map((sum) => renderRow(sum, by))
    yield rows.map((row) => `${columns.map((column) => csvCell(row[column])).join(',')}\r\n`).join('')
  }
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
    toolUses: (receipt.toolUses ?? []).map(({ kind, uses, attoUsdPerUse }) => ({
      kind,
      uses,
      unitPriceUsd: formatAttoUsd(attoUsdPerUse),
      costUsd: formatAttoUsd(BigInt(uses) * attoUsdPerUse),
    })),
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
    schemaMismatch: receipt.schemaMismatch,
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
