import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

/** Encrypts secrets at rest: AES-256-GCM, a fresh nonce each time, bound to the place where it is stored. */
export type SecretBox = ReturnType<typeof createSecretBox>

const version = 'v1'
const nonceBytes = 12
const tagBytes = 16

/**
 * `masterKey` is any high-entropy text or bytes of at least 32 bytes; the cipher key is derived from it. While the master key is replaced, `secondKey` is
 * the former one, or the next one on instances that still have the former: what it encrypted can be opened too.
 */
export function createSecretBox(masterKey: string | Uint8Array, secondKey?: string | Uint8Array) {
  const key = cipherKey(masterKey)
  const keys = secondKey === undefined ? [key] : [key, cipherKey(secondKey)]

  function seal(secret: string, context: string): string {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    cipher.setAAD(Buffer.from(context))
    const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return `${version}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`
  }

  function open(sealed: string, context: string): { secret: string; isCurrent: boolean } {
    let failure: unknown
    for (const candidate of keys) {
      try {
        return { secret: openWith(candidate, sealed, context), isCurrent: candidate === key }
      } catch (error) {
        failure ??= error
      }
    }
    throw failure
  }

  return {
    /** `context` names the cell (`provider:openai`): a sealed value copied to another cell does not open there. */
    seal,
    /** Throws when the keys or the context are others, or the text was changed. */
    open: (sealed: string, context: string): string => open(sealed, context).secret,
    /** The secret under the master key; undefined if it already is. Throws as `open` does. */
    reseal(sealed: string, context: string): string | undefined {
      const { secret, isCurrent } = open(sealed, context)
      return isCurrent ? undefined : seal(secret, context)
    },
  }
}

function cipherKey(masterKey: string | Uint8Array): Buffer {
  if (Buffer.byteLength(masterKey) < 32) throw new RangeError('the secret key must have at least 32 bytes')
  return createHmac('sha256', masterKey).update('portico secret box v1').digest()
}

function openWith(key: Buffer, sealed: string, context: string): string {
  const [name, text = ''] = sealed.split('.')
  const bytes = Buffer.from(text, 'base64url')
  if (name !== version || bytes.length < nonceBytes + tagBytes) throw new Error('not a sealed secret')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
}

/** Pseudonyms of end users for providers: stable for one person, without information about the person. */
export type Pseudonyms = (organisationId: string, name: string) => string

/**
 * Keyed with a secret of this installation, which prevents guessing. The same name in two organisations gives two pseudonyms. 64 characters: the most that OpenAI takes.
 */
export function createPseudonyms(masterKey: string | Uint8Array): Pseudonyms {
  const key = createHmac('sha256', masterKey).update('portico pseudonyms v1').digest()
  return (organisationId, name) =>
    createHmac('sha256', key)
      .update(JSON.stringify([organisationId, name]))
      .digest('hex')
}
