import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

/** Encrypts secrets at rest: AES-256-GCM, a fresh nonce each time, bound to the place where it is stored. */
export type SecretBox = ReturnType<typeof createSecretBox>

const version = 'v1'
const nonceBytes = 12
const tagBytes = 16

/** `masterKey` is any high-entropy text or bytes of at least 32 bytes; the cipher key is derived from it. */
export function createSecretBox(masterKey: string | Uint8Array) {
  if (Buffer.byteLength(masterKey) < 32) throw new RangeError('the secret key must have at least 32 bytes')
  const key = createHmac('sha256', masterKey).update('portico secret box v1').digest()
  return {
    /** `context` names the cell (`provider:openai`): a sealed value copied to another cell does not open there. */
    seal(secret: string, context: string): string {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      cipher.setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return `${version}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`
    },
    /** Throws when the key or the context is another one, or the text was changed. */
    open(sealed: string, context: string): string {
      const [name, text = ''] = sealed.split('.')
      const bytes = Buffer.from(text, 'base64url')
      if (name !== version || bytes.length < nonceBytes + tagBytes) throw new Error('not a sealed secret')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
      return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}
