export { hostOf } from './host-of.ts'
export { type ModelTraits, type ResolvedTraits, resolveTraits } from './model-traits/index.ts'
export { createProvider, type ProviderDependencies } from './create-provider.ts'
export * from './port.ts'
