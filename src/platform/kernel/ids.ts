import { hash, randomBytes, randomFillSync, randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

export type OrganisationId = Branded<'OrganisationId'>
export type SpaceId = Branded<'SpaceId'>
export type EndpointId = Branded<'EndpointId'>
export type DocumentId = Branded<'DocumentId'>
export type RequestId = Branded<'RequestId'>
/** One run of one process. A restart creates a new id, so that the state of a dead process is identified. */
export type InstanceId = Branded<'InstanceId'>

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** True for any RFC 9562 UUID in its text form, whatever its version. */
export function isUuid(value: string): boolean {
  return uuidPattern.test(value)
}

/** A time-ordered UUID (version 7): index-friendly, and newest-first order has a natural tie-break. */
export function createUuid(nowMs: number = Date.now()): string {
  return uuidOf(uuidDigits(nowMs))
}

/** The text form of 32 hexadecimal digits. */
export function uuidOf(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Random bytes are fetched in blocks: one call for each id takes longer than all the rest of it. */
const randomBlock = Buffer.alloc(8_000)
const randomBytesPerUuid = 10
let randomAt = randomBlock.length

/** The 32 digits: 12 of the time, then version, variant and 74 random bits. */
function uuidDigits(nowMs: number): string {
  if (randomAt === randomBlock.length) {
    randomFillSync(randomBlock)
    randomAt = 0
  }
  const start = randomAt
  randomAt += randomBytesPerUuid
  randomBlock[start] = 0x70 | (randomBlock[start]! & 0x0f)
  randomBlock[start + 2] = 0x80 | (randomBlock[start + 2]! & 0x3f)
  return nowMs.toString(16).padStart(12, '0') + randomBlock.toString('hex', start, randomAt)
}

export const createOrganisationId = (): OrganisationId => createUuid() as OrganisationId
export const createSpaceId = (): SpaceId => createUuid() as SpaceId
export const createDocumentId = (): DocumentId => createUuid() as DocumentId
/** Unguessable (version 4): clients put endpoint ids into their configuration. */
export const createEndpointId = (): EndpointId => randomUUID() as EndpointId
export const createInstanceId = (): InstanceId => randomUUID() as InstanceId
/** `req_` + a time-ordered UUID without dashes; the primary key of a usage record. */
export const createRequestId = (): RequestId => `req_${uuidDigits(Date.now())}` as RequestId

/**
 * API keys and operator tokens: a prefix, 34 random base62 characters (202 bits) and a checksum of 6 characters. Secret scanners
 * recognise the form, and a typo is detected without a lookup. The checksum is the CRC-32 of all preceding characters as a base62
 * number of six digits. CRC-32 detects every single wrong character and every swap of two neighbours.
 */
export type CredentialPrefix = 'ptc_' | 'pto_'

export interface Credential {
  /** Shown once, never stored. */
  readonly secret: string
  readonly stored: StoredCredential
}

/** The stored part of a credential. */
export interface StoredCredential {
  /** SHA-256. No salt and no slow hash: 202 random bits cannot be guessed. */
  readonly hash: Uint8Array
  /** First characters, for display: `ptc_a1b2`. */
  readonly prefix: string
  readonly lastFour: string
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomCharacters = 34
const checksumCharacters = 6
const shownCharacters = 4
const pattern = new RegExp(`^pt[co]_[0-9A-Za-z]{${randomCharacters + checksumCharacters}}$`)

/** `random` is for tests. */
export function createCredential(
  prefix: CredentialPrefix,
  random: (size: number) => Uint8Array = randomBytes,
): Credential {
  const body = prefix + randomBase62(random)
  return describeSecret(body + checksum(body))
}

/** True for text of the right form with a correct checksum. The credential may still be unknown or revoked. */
export function isWellFormed(secret: string, prefix: CredentialPrefix): boolean {
  if (!secret.startsWith(prefix) || !pattern.test(secret)) return false
  return checksum(secret.slice(0, -checksumCharacters)) === secret.slice(-checksumCharacters)
}

/**
 * The key of a secret for lookups, in memory or in a table. A lookup by a SHA-256 needs no constant-time comparison: its timing
 * depends on a hash that the caller cannot choose.
 */
export function lookupHash(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

/** The same text from the stored bytes. */
export function storedLookupHash(hashBytes: Uint8Array): string {
  return Buffer.from(hashBytes).toString('base64url')
}

function describeSecret(secret: string): Credential {
  return {
    secret,
    stored: {
      hash: hash('sha256', secret, 'buffer'),
      prefix: secret.slice(0, 'ptc_'.length + shownCharacters),
      lastFour: secret.slice(-shownCharacters),
    },
  }
}

function randomBase62(random: (size: number) => Uint8Array): string {
  let text = ''
  while (text.length < randomCharacters) {
    for (const byte of random(randomCharacters * 2)) {
      // 248 = 4 × 62: bytes above would make the first characters likelier than the rest.
      if (byte < 248 && text.length < randomCharacters) text += base62[byte % 62]!
    }
  }
  return text
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let index = 0; index < checksumCharacters; index++) {
    digits = base62[rest % 62]! + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
