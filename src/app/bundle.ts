import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Process from './process.ts'

/**
 * The service in a few files (scripts/build-service.ts): a start that loads them takes less time and memory than one that loads 1,400
 * modules. Its folder is named after a hash of what it was made from, so that no start runs a bundle of other sources.
 */

const root = path.join(import.meta.dirname, '../..')
const inputs = ['package.json', 'package-lock.json', 'scripts/build-service.ts', 'scripts/service-bundle/to-ascii.ts']
export const bundlesFolder = path.join(root, 'dist/service')

/** The address of the bundled `process.ts`, or undefined where the installation made none from these sources and packages. */
export function findBundle(folder: string = bundlesFolder): string | undefined {
  // Without any bundle the sources need not be read.
  if (!fs.existsSync(folder)) return undefined
  const file = path.join(folder, bundleFingerprint(), 'process.js')
  return fs.existsSync(file) ? pathToFileURL(file).href : undefined
}

/** `process.ts` from the bundle, or from the sources where there is none or where they have changed since. */
export function importProcess(): Promise<typeof Process> {
  const bundle = findBundle()
  return bundle === undefined ? import('./process.ts') : import(bundle)
}

/** Changes with the sources of the service, the versions of its packages and the program that makes the bundle. */
export function bundleFingerprint(sources: string = path.join(import.meta.dirname, '..')): string {
  const hash = createHash('sha1')
  const add = (file: string) => hash.update(`\n${path.relative(root, file)}\n`).update(fs.readFileSync(file))
  for (const file of inputs) add(path.join(root, file))
  for (const file of listSources(sources)) add(file)
  return hash.digest('hex').slice(0, 16)
}

/** In a fixed order. */
function listSources(folder: string): string[] {
  const entries = fs
    .readdirSync(folder, { withFileTypes: true })
    .sort((left, right) => (left.name < right.name ? -1 : 1))
  return entries.flatMap((entry) => {
    const file = path.join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'testing' ? [] : listSources(file)
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts') ? [file] : []
  })
}
