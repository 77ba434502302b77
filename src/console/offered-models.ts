import type { OfferedIdView, OfferedModelView, TokenPricesView } from '../contract/console-developer-tools.ts'
import { ceilDivide, formatPicoUsd } from '../platform/kernel/index.ts'
import { withDefaults } from '../gateway/billing/index.ts'
import { euPrefix, type OfferedModel, priceInForce, type ResolvedModel } from '../gateway/models/index.ts'
import type { Organisation } from '../tenants/organisations/index.ts'

type UnitPrices = ReturnType<typeof withDefaults>

const classes = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const
/** 100 % in basis points. */
const whole = 10_000n

interface OfferContext {
  capabilitiesOf: (resolved: ResolvedModel) => string[]
  organisation: Organisation
  nowMs: number
}

/** A model as an administrator sees it: with the markup of the organisation in its prices. */
export function renderOfferedModel(
  { model, sides, isDisabled }: OfferedModel,
  context: OfferContext,
): OfferedModelView {
  const { id, ownedBy, tier, contextTokens, maxOutputTokens, retiresAt } = model
  return {
    id,
    ownedBy,
    tier,
    contextTokens,
    maxOutputTokens,
    retiresAt: retiresAt === null ? null : new Date(retiresAt).toISOString(),
    enabled: !isDisabled,
    standard: renderSide(id, { model, eu: false, deployments: sides.other }, context),
    eu: renderSide(euPrefix + id, { model, eu: true, deployments: sides.eu }, context),
  }
}

function renderSide(
  id: string,
  { model, eu, deployments }: ResolvedModel,
  { capabilitiesOf, organisation: { markupBasisPoints }, nowMs }: OfferContext,
): OfferedIdView | null {
  const schedules = deployments
    .flatMap((deployment) => priceInForce(deployment, nowMs) ?? [])
    .toSorted((left, right) => compare(withDefaults(left.base), withDefaults(right.base)))
  const [lowest, highest] = [schedules[0], schedules.at(-1)]
  if (!lowest || !highest) return null
  const render = (prices: UnitPrices) => renderPrices(prices, markupBasisPoints)
  const isOnePrice = compare(withDefaults(lowest.base), withDefaults(highest.base)) === 0
  return {
    id,
    hostings: [...new Set(deployments.map(({ hosting }) => hosting))].toSorted(),
    capabilities: capabilitiesOf({ model, eu, deployments }),
    prices: render(withDefaults(highest.base)),
    lowestPrices: isOnePrice ? null : render(withDefaults(lowest.base)),
    longPrompts: highest.contextSteps
      .toSorted((left, right) => left.abovePromptTokens - right.abovePromptTokens)
      .map(({ abovePromptTokens, prices }) => ({ abovePromptTokens, ...render(withDefaults(prices)) })),
  }
}

/** By the price of output, then of input, then of the others. */
function compare(left: UnitPrices, right: UnitPrices): number {
  for (const name of ['output', 'input', 'cacheRead', 'cacheWrite', 'reasoning'] as const)
    if (left[name] !== right[name]) return left[name] < right[name] ? -1 : 1
  return 0
}

/** attoUsd per token, formatted as picoUsd, are dollars per million tokens. Digits below 1e-12 dollars are rounded up. */
function renderPrices(prices: UnitPrices, markupBasisPoints: number): TokenPricesView {
  const factor = whole + BigInt(markupBasisPoints)
  const entries = classes.map((name) => [name, formatPicoUsd(ceilDivide(prices[name] * factor, whole))])
  return Object.fromEntries(entries) as TokenPricesView
}
