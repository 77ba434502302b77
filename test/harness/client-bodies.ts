import path from 'node:path'
import { readJsonLines, sharedDataFolder } from './shared-data.ts'

/** A request that the test suite of a public project has sent to a provider, and that was answered. */
export interface ClientBody {
  id: string
  family: string
  repo: string
  served: boolean
  left_out: string | null
  // Of three APIs; each test asserts what it reads.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

const folder = sharedDataFolder('clients')
export const hasClientBodies = folder !== undefined

/** Those of these APIs that some provider can serve; none where the shared data is missing. */
export function readClientBodies(families: readonly string[]): ClientBody[] {
  if (folder === undefined) return []
  return readJsonLines<ClientBody>(path.join(folder, 'bodies.jsonl')).filter(
    ({ family, served, left_out: leftOut }) => families.includes(family) && served && leftOut === null,
  )
}
