import type { AddDeployments, DiscoveredModels } from '../../contract/models.ts'
import { AppError, type Clock, describeError, invalidField } from '../../platform/kernel/index.ts'
import { type Provider, ProviderError } from '../providers/index.ts'
import type { BuiltCatalogue, DeclaredProvider } from './build-catalogue.ts'
import type { AddedDeployment } from './catalogue.store.ts'
import { euPrefix } from './catalogue.ts'
import { guessModelKind } from './discovery.ts'
import { findInLists, snapshotSchedules } from './price-lists.ts'
import { perMillion } from './render-catalogue.ts'
import type { PriceSnapshot } from './price-snapshot.ts'
import { describeFailure } from './test-provider.ts'

/** A listing fails after this time. */
const listingTimeoutMs = 15_000
/** Upper bound on the models of one answer. */
const maximumModels = 1_000
/** Upper bound on the deployments that are named for one model. */
const maximumDeployments = 20
/** The longest id on the wire that a deployment may have. */
const maximumWireIdCharacters = 500
const maximumModelIdCharacters = 120

/** What a provider lists, with what the catalogue and the price lists have about each model. */
export async function discoverModels({
  declared,
  provider,
  built,
  snapshot,
  clock,
}: {
  declared: DeclaredProvider
  provider: Provider
  built: BuiltCatalogue
  snapshot: PriceSnapshot
  clock: Clock
}): Promise<DiscoveredModels> {
  if (!provider.listModels)
    throw new AppError(
      'conflict',
      `The format ${declared.settings.format} has no listing; add its deployments by name.`,
    )
  const startedMs = clock.monotonicMs()
  const answer = (names: readonly string[], error: DiscoveredModels['error']): DiscoveredModels => ({
    data: names
      .slice(0, maximumModels)
      .map((name) => describeListed(name, declared, serving(built, declared), snapshot, clock)),
    total: names.length,
    durationMs: Math.round(clock.monotonicMs() - startedMs),
    error,
  })
  const signal = AbortSignal.timeout(listingTimeoutMs)
  try {
    const names = await provider.listModels(signal)
    return answer([...new Set(names)].filter((name) => name.length <= maximumWireIdCharacters).sort(), null)
  } catch (error) {
    const message = `The provider did not list its models within ${listingTimeoutMs / 1000} seconds.`
    if (signal.aborted) return answer([], { class: 'timeout', status: null, message, code: null })
    if (error instanceof ProviderError) return answer([], describeFailure(error))
    return answer([], { class: 'server_error', status: null, message: describeError(error), code: null })
  }
}

/** The deployments of a provider by id on the wire. */
function serving(built: BuiltCatalogue, { settings }: DeclaredProvider): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { all } of built.models.values())
    for (const { deployment } of all) {
      if (deployment.providerId !== settings.id) continue
      const ids = found.get(deployment.wire.id) ?? []
      if (ids.length < maximumDeployments) ids.push(deployment.id)
      found.set(deployment.wire.id, ids)
    }
  return found
}

function describeListed(
  wireId: string,
  { priceLists }: DeclaredProvider,
  deployments: ReadonlyMap<string, string[]>,
  snapshot: PriceSnapshot,
  clock: Clock,
): DiscoveredModels['data'][number] {
  const listed = findInLists(snapshot, priceLists, wireId)?.model
  // Facts such as the context do not depend on the host, prices do.
  const known = listed ?? findInLists(snapshot, Object.keys(snapshot.lists), wireId)?.model
  const price = listed && snapshotSchedules(listed, snapshot.date).find(({ validFrom }) => validFrom <= clock.now())
  return {
    wireId,
    kind: known?.kind ?? guessModelKind(wireId),
    model: listed?.id ?? toModelId(wireId),
    contextTokens: known?.contextTokens ?? null,
    prices: price ? perMillion(price.base) : null,
    deployments: deployments.get(wireId) ?? [],
  }
}

/** An id for clients that resembles the id on the wire. */
function toModelId(wireId: string): string {
  const id = wireId
    .replaceAll(/[^A-Za-z0-9._:@+/-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, maximumModelIdCharacters)
  return id.startsWith(euPrefix) ? id.slice(euPrefix.length) : id || 'model'
}

/** Throws `invalid_request` or `conflict` with the position of the deployment that cannot be added. */
export function planDeployments(
  providerId: string,
  { deployments }: AddDeployments,
  { built, priceLists, snapshot }: { built: BuiltCatalogue; priceLists: readonly string[]; snapshot: PriceSnapshot },
): AddedDeployment[] {
  const taken = new Set([...built.models.values()].flatMap(({ all }) => all.map(({ deployment }) => deployment.id)))
  return deployments.map(({ wireId, model = wireId, kind, prices }, at) => {
    const param = `deployments.${at}.model`
    if (model !== toModelId(model))
      throw invalidField(param, `${model} is not an id: use letters, digits and . _ : @ + / -, at most 120.`)
    const id = `${providerId}/${model}`
    if (taken.has(id)) throw new AppError('conflict', `There is a deployment ${id} already.`, { param })
    taken.add(id)
    const isKnown = built.models.has(model) || findInLists(snapshot, priceLists, model) !== undefined
    return {
      id,
      deployment: { model, provider: providerId, ...(wireId !== model && { wireId }) },
      // Chat is the default; the catalogue has the kind of a known model.
      kind: kind !== 'chat' && !isKnown ? kind : undefined,
      prices,
    }
  })
}
