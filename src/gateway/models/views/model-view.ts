import type {
  ModelRow,
  ModelsView,
  ModelsViewQuery,
  ModelView,
  TimelinePrice,
} from '../../../contract/console-models.ts'
import { AppError } from '../../../platform/kernel/index.ts'
import type { BuiltModel } from '../build-catalogue.ts'
import { findInLists, snapshotSchedules } from '../price-lists.ts'
import { findModel, priceInForce } from '../create-catalogue.ts'
import { callableIdsOf, perMillion, renderFacts, renderPrices, renderTraits } from '../render-catalogue.ts'
import { isCallable, observe, renderObserved } from './deployment-view.ts'
import { type Entry, isoOrNull, matches, pageOf, type ViewContext } from './view-context.ts'

/** Upper bound on the problems and on the organisations of one view. */
const shownProblems = 50
const shownOrganisations = 20

export function modelsView(context: ViewContext, query: ModelsViewQuery): ModelsView {
  const { catalogue, snapshot, clock } = context
  const nowMs = clock.now()
  const { models, problems } = catalogue.built()
  const disabled = countDisabled(context)
  const searched = [...models.values()]
    .filter(
      (model) =>
        (query.kind === undefined || model.kind === query.kind) &&
        matches(query.search, model.id, model.ownedBy, ...model.aliases),
    )
    .map((model) => ({ model, ids: callableIdsOf(model, nowMs) }))
  const isEu = ({ ids }: { ids: string[] }) => ids.some((id) => id.startsWith('eu/'))
  const groups = {
    all: searched,
    callable: searched.filter(({ ids }) => ids.length > 0),
    eu: searched.filter(isEu),
    not_callable: searched.filter(({ ids }) => ids.length === 0),
  }
  const found = groups[query.availability]
  return {
    snapshotDate: snapshot.date,
    problems: problems.slice(0, shownProblems),
    counts: {
      all: groups.all.length,
      callable: groups.callable.length,
      eu: groups.eu.length,
      not_callable: groups.not_callable.length,
    },
    total: found.length,
    items: pageOf(found, query).map(({ model }) => renderRow(context, model, disabled)),
  }
}

export function modelView(context: ViewContext, id: string): ModelView {
  const { catalogue, snapshot, clock } = context
  const nowMs = clock.now()
  const model = findModel(catalogue.built(), id)
  if (!model) throw new AppError('not_found', `There is no model ${id}.`)
  const disabling = [...context.organisations.all()].filter(({ disabledModels }) => disabledModels.includes(model.id))
  return {
    ...renderRow(context, model, new Map([[model.id, disabling.length]])),
    snapshotDate: snapshot.date,
    isDeclaredByOperator: model.origin === 'operator',
    disablingOrganisations: disabling.slice(0, shownOrganisations).map((one) => ({ id: one.id, name: one.name })),
    deploymentsList: model.all.map((one) => renderDetails(context, { ...one, model }, nowMs)),
  }
}

function renderRow(
  { catalogue, clock }: ViewContext,
  model: BuiltModel,
  disabled: ReadonlyMap<string, number>,
): ModelRow {
  const nowMs = clock.now()
  const callable = model.all.filter((one) => isCallable({ ...one, model }, nowMs))
  const next = model.all
    .flatMap(({ deployment }) => deployment.prices.map(({ validFrom }) => validFrom))
    .filter((validFrom) => validFrom > nowMs)
  return {
    ...renderFacts(model, { nowMs, versionOf: catalogue.versionOf }),
    deployments: { total: model.all.length, callable: callable.length },
    price: priceRange(callable, nowMs),
    nextPriceAt: next.length === 0 ? null : isoOrNull(Math.min(...next)),
    disabledBy: disabled.get(model.id) ?? 0,
  }
}

function priceRange(entries: BuiltModel['all'], nowMs: number): ModelRow['price'] {
  const schedules = entries.flatMap(({ deployment }) => priceInForce(deployment, nowMs) ?? [])
  if (schedules.length === 0) return null
  const sorted = schedules.toSorted((left, right) =>
    left.base.input + left.base.output < right.base.input + right.base.output ? -1 : 1,
  )
  return {
    from: perMillion(sorted[0]!.base),
    to: perMillion(sorted.at(-1)!.base),
    sources: [...new Set(schedules.map(({ source }) => source))].slice(0, 20),
  }
}

/** One pass over the organisations. */
function countDisabled({ organisations }: ViewContext): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { disabledModels } of organisations.all())
    for (const id of disabledModels) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

function renderDetails(context: ViewContext, entry: Entry, nowMs: number): ModelView['deploymentsList'][number] {
  const { deployment, traits } = entry
  return {
    ...renderObserved(context, observe(context, entry, nowMs), nowMs),
    baseModel: deployment.wire.baseModel,
    acceptsTemperature: deployment.wire.acceptsTemperature,
    reasoning: deployment.wire.reasoning,
    traits: renderTraits(deployment, traits),
    prices: timeline(context, entry, nowMs),
    snapshotPrice: snapshotPrice(context, entry, nowMs),
  }
}

function timeline({ catalogue }: ViewContext, { deployment }: Entry, nowMs: number): TimelinePrice[] {
  const prices = renderPrices(deployment, { nowMs, priceId: catalogue.operatorPriceId })
  return prices.map((price, at) => {
    const validFrom = price.validFrom === null ? 0 : Date.parse(price.validFrom)
    return {
      ...price,
      phase: price.inForce ? 'current' : validFrom > nowMs ? 'future' : 'past',
      sourceKind: sourceKindOf(price.id, price.source),
      // The next newer price ends this one.
      validTo: at === 0 ? null : prices[at - 1]!.validFrom,
    }
  })
}

function sourceKindOf(id: string | null, source: string): TimelinePrice['sourceKind'] {
  if (id !== null) return 'operator'
  if (source.startsWith('snapshot')) return 'snapshot'
  return source === 'configuration' ? 'configuration' : 'built-in'
}

/** From the provider's price lists only: the list price of another provider does not apply. */
function snapshotPrice({ catalogue, snapshot }: ViewContext, { deployment }: Entry, nowMs: number) {
  const lists = catalogue.built().providers.get(deployment.providerId)?.priceLists ?? []
  for (const list of lists) {
    const listed = findInLists(snapshot, [list], deployment.wire.baseModel)
    if (!listed) continue
    const schedule = snapshotSchedules(listed.model, snapshot.date, list).find(({ validFrom }) => validFrom <= nowMs)
    if (schedule) return { ...perMillion(schedule.base), list, date: snapshot.date }
  }
  return null
}
