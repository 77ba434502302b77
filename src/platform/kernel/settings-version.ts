import { createHash } from 'node:crypto'
import { AppError } from './errors.ts'

/** 132 bits of SHA-256. */
const versionCharacters = 22

/** The version of settings: of their JSON, in any order of the fields. A database may return them in another order than they were written. */
export function versionOf(settings: object): string {
  const json = JSON.stringify(settings, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )
  return createHash('sha256').update(json).digest('base64url').slice(0, versionCharacters)
}

/**
 * To be called with the stored settings, in the transaction that replaces them. Throws `conflict` if they have another version than `ifMatch`, a
 * value of the header: a version in quotes. Undefined: any version.
 */
export function assertVersion(ifMatch: string | undefined, settings: object): void {
  if (ifMatch === undefined || ifMatch === `"${versionOf(settings)}"`) return
  throw new AppError('conflict', 'The settings were changed by someone else. Load them again.', { param: 'if-match' })
}
