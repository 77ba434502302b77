import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * The folder of recordings and documents that some suites read in place, or undefined where it is missing. Such suites use
 * `describe.skipIf(...)` with the name that `sharedDataSuite` gives, so that the report names what was missing.
 */
export function sharedDataFolder(...parts: string[]): string | undefined {
  const root = path.resolve(process.env.PORTICO_SHARED_DATA ?? path.join(import.meta.dirname, '../../../shared/data'))
  const folder = path.join(root, ...parts)
  return existsSync(folder) ? folder : undefined
}

/** The values of a file with one JSON value per line. */
export function readJsonLines<Row>(file: string): Row[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as Row)
}
