export type { ProxySettings } from './connection-pool.ts'
export * from './create-provider.ts'
export * from './port.ts'
