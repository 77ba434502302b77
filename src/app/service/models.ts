import { hostname } from 'node:os'
import { type ChangeFeed, type Database, recordChange } from '../../platform/database/index.ts'
import type { Metrics } from '../../platform/http/index.ts'
import type { SecretBox } from '../../platform/kernel/index.ts'
import {
  createCatalogue,
  createCatalogueStore,
  createCatalogueViews,
  createOperatorCatalogue,
  loadPriceSnapshot,
} from '../../gateway/models/index.ts'
import type { Organisations } from '../../tenants/organisations/index.ts'
import { createProvider } from '../../gateway/providers/index.ts'
import { createRouter } from '../../gateway/routing/index.ts'
import type { TokenCounting } from '../../gateway/tokens/index.ts'
import type { PartContext } from './foundation.ts'
import { readCertificates, toCatalogueConfiguration } from './resources.ts'

interface ModelsDependencies extends PartContext {
  control: Database
  changeFeed: ChangeFeed
  organisations: Pick<Organisations, 'get' | 'all'>
  secretBox: SecretBox
  metrics: Metrics
  tokens: TokenCounting
}

/** The catalogue of models, the router to their deployments, and the operator's changes. */
export async function openModels(dependencies: ModelsDependencies) {
  const { config, control, changeFeed, organisations, secretBox, metrics, tokens, clock, log, onStop } = dependencies
  const snapshot = loadPriceSnapshot()
  const store = createCatalogueStore({ database: control, secretBox, recordChange, clock, log })
  const certificateAuthority = readCertificates(config)
  const catalogue = createCatalogue({
    configuration: toCatalogueConfiguration(config),
    snapshot,
    store,
    changes: changeFeed,
    createProvider: (provider) =>
      createProvider(provider, {
        log,
        clock,
        tokens,
        proxies: config.proxies,
        certificateAuthority,
        onRefusal: (refusal) => metrics.learnedRefusals.inc(refusal),
      }),
    clock,
    log,
  })
  onStop(() => catalogue.close())
  await catalogue.start()
  const router = createRouter({
    clock,
    random: Math.random,
    log,
    metrics: { attempt: (deployment, outcome) => metrics.providerAttempts.inc({ deployment, outcome }) },
  })
  const operatorCatalogue = createOperatorCatalogue({
    store,
    catalogue,
    deploymentHealth: router,
    changes: changeFeed,
    snapshot,
    clock,
  })
  const catalogueViews = createCatalogueViews({
    catalogue,
    deploymentHealth: router,
    store,
    organisations,
    snapshot,
    instance: { name: `${hostname()}:${process.pid}`, startedAt: clock.now() },
    clock,
  })
  return { catalogue, router, operatorCatalogue, catalogueViews }
}
