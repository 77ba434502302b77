import { findBundle } from './bundle.ts'

/**
 * The entry: runs the service from the bundle that the installation made of these sources, and from the sources where there is none or
 * where they have changed since.
 */
const bundle = findBundle()
await (bundle === undefined ? import('./process.ts') : import(bundle))
