export {
  acceptsTools,
  createCatalogue,
  listCapabilities,
  type LiveCatalogue,
  priceInForce,
} from './create-catalogue.ts'
export {
  type Catalogue,
  type Deployment,
  euPrefix,
  type ListedModel,
  type OfferedModel,
  type ResolvedModel,
} from './catalogue.ts'
export { createCatalogueStore } from './catalogue.store.ts'
export {
  type DeploymentHealth,
  type HealthView,
  trafficSlotMs,
  trafficSlots,
  type TrafficView,
} from './deployment-health.ts'
export { type CatalogueConfiguration, offlineModelId } from './from-configuration.ts'
export { type EmbeddingModel, listEmbeddingModels } from './embedding-models.ts'
export { modelRoutes } from './models.routes.ts'
export { createOperatorCatalogue } from './operator-catalogue.ts'
export { providerSecretsColumn } from './provider-secrets.ts'
export { loadPriceSnapshot, type PriceSnapshot, type SnapshotModel, type SnapshotPrices } from './price-snapshot.ts'
export { createCatalogueViews, type CatalogueViews } from './views/create-catalogue-views.ts'
