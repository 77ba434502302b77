import { recordChange } from '../database/index.ts'
import { createCatalogue, createCatalogueStore, createOperatorCatalogue, loadPriceSnapshot } from '../models/index.ts'
import { createProvider } from '../providers/index.ts'
import { createRouter } from '../routing/index.ts'
import type { Foundation } from './foundation.ts'
import { readCertificates, toCatalogueConfiguration } from './resources.ts'

export type Models = Awaited<ReturnType<typeof openModels>>

/** The catalogue of models, the router to their deployments, and the operator's changes. */
export async function openModels(foundation: Foundation) {
  const { config, control, changeFeed, secretBox, metrics, tokens, clock, log, onStop } = foundation
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
    snapshotDate: snapshot.date,
    clock,
  })
  return { catalogue, router, operatorCatalogue }
}
