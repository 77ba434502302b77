import type { Clock } from '../../../platform/kernel/index.ts'
import type { Organisations } from '../../../tenants/organisations/index.ts'
import type { BuiltModel } from '../build-catalogue.ts'
import type { CatalogueStore } from '../catalogue.store.ts'
import type { LiveCatalogue } from '../create-catalogue.ts'
import type { DeploymentHealth } from '../deployment-health.ts'
import type { PriceSnapshot } from '../price-snapshot.ts'

/** What the console's views of the catalogue read. */
export interface ViewContext {
  catalogue: LiveCatalogue
  deploymentHealth: Pick<DeploymentHealth, 'health' | 'traffic'>
  store: Pick<CatalogueStore, 'loadTests'>
  /** Ids of the deployments that at least one instance fails to call now. */
  loadFailing: () => Promise<ReadonlySet<string>>
  organisations: Pick<Organisations, 'get' | 'all'>
  snapshot: PriceSnapshot
  /** Names this process where its observations are shown. */
  instance: { name: string; startedAt: number }
  clock: Clock
}

export type Entry = BuiltModel['all'][number] & { model: BuiltModel }

export function allEntries(catalogue: Pick<LiveCatalogue, 'built'>): Entry[] {
  return [...catalogue.built().models.values()].flatMap((model) => model.all.map((entry) => ({ ...entry, model })))
}

export const isoOrNull = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

/** Whether one of the texts contains the searched one, in upper or lower case. */
export function matches(search: string | undefined, ...texts: readonly string[]): boolean {
  const wanted = search?.trim().toLowerCase() ?? ''
  return wanted === '' || texts.some((text) => text.toLowerCase().includes(wanted))
}

export function pageOf<Item>(items: readonly Item[], { limit, offset }: { limit: number; offset: number }): Item[] {
  return items.slice(offset, offset + limit)
}
