import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

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
