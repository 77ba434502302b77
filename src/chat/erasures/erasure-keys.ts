import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ErasureKind } from '../../contract/erasures.ts'
import { isObject } from '../../platform/kernel/index.ts'

export type ErasureKeys = ReturnType<typeof createErasureKeys>

/**
 * The keys of an installation as text for `createErasureKeys`, from its secret key at that time. They stay when the secret key is replaced: certificates
 * must be verifiable for years.
 */
export function deriveErasureKeys(masterKey: string | Uint8Array): string {
  const derive = (purpose: string) => createHmac('sha256', masterKey).update(purpose).digest('base64url')
  return `${derive('portico erasure subjects v1')}.${derive('portico erasure certificates v1')}`
}

/** Digests of subjects and signatures of certificates. */
export function createErasureKeys(derived: string) {
  const [digestKey, signatureKey] = derived.split('.').map((key) => Buffer.from(key, 'base64url')) as [Buffer, Buffer]
  const sign = (certificate: object) =>
    createHmac('sha256', signatureKey)
      .update(JSON.stringify(ordered({ ...certificate, signature: undefined })))
      .digest('base64url')
  return {
    /** Hexadecimal. Equal values of two organisations have two digests. */
    digest: (organisationId: string, kind: ErasureKind, value: string): string =>
      createHmac('sha256', digestKey)
        .update(JSON.stringify([organisationId, kind, kind === 'document' ? value.toLowerCase() : value]))
        .digest('hex'),
    sign,
    isGenuine(certificate: Readonly<Record<string, unknown>>): boolean {
      const given = certificate['signature']
      if (typeof given !== 'string') return false
      const [left, right] = [Buffer.from(given), Buffer.from(sign(certificate))]
      return left.length === right.length && timingSafeEqual(left, right)
    },
  }
}

/** The same value with the members of objects in the order of their names, so that a client may reorder them. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (!isObject(value)) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  const sorted = members.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([name, member]) => [name, ordered(member)]))
}
