export { createProvider, type ProviderDependencies } from './create-provider.ts'
export * from './port.ts'
