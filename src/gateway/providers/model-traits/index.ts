export { plainName, resolveTraits } from './resolve.ts'
export type { HostName, ModelTraits, ResolvedTraits } from './traits.ts'
