export { plainName, resolveTraits } from './resolve.ts'
export type { ModelTraits, ResolvedTraits } from './traits.ts'
