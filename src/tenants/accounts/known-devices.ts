import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** The account of a password. */
export interface PasswordAccount {
  personId: string
  passwordHash: string
}

const cookieName = 'portico.device'
/** A device keeps proofs for this many people, the most recent ones. */
const maximumPeople = 8
/** Half a year without a sign-in. */
const maximumAgeSeconds = 180 * 24 * 3600
/** 128 bits of a MAC in base64url. */
const proofLength = 22
const idBytes = 16

export type KnownDevices = ReturnType<typeof createKnownDevices>

/**
 * Devices on which a person has signed in. Guesses elsewhere do not lock such a device, because it has separate counters of attempts. It
 * gives no other right. The cookie has a random id of the device and a MAC for each person, which covers the hash of the password: a new
 * password ends all devices of its person.
 */
export function createKnownDevices({ secret, publicUrl }: { secret: string; publicUrl: string | undefined }) {
  const proofOf = (device: string, { personId, passwordHash }: PasswordAccount) =>
    createHmac('sha256', secret)
      .update(JSON.stringify(['known device', device, personId, passwordHash]))
      .digest('base64url')
      .slice(0, proofLength)

  return {
    /** True if the cookies name a device, known or not. */
    isNamed: (cookies: string | null) => read(cookies) !== undefined,

    /** The id of the device if a person has signed in to the account on it. */
    find(cookies: string | null, account: PasswordAccount): string | undefined {
      const { id, proofs } = read(cookies) ?? {}
      return id !== undefined && proofs!.some((proof) => isSame(proof, proofOf(id, account))) ? id : undefined
    },

    /** The value of `set-cookie` after a sign-in to the account. */
    remember(cookies: string | null, account: PasswordAccount): string {
      const { id = randomBytes(idBytes).toString('base64url'), proofs = [] } = read(cookies) ?? {}
      const kept = [...new Set([proofOf(id, account), ...proofs])].slice(0, maximumPeople)
      const attributes = `Max-Age=${maximumAgeSeconds}; Path=/api/auth; HttpOnly; SameSite=Lax`
      const isSecure = publicUrl?.startsWith('https:') ?? false
      return `${cookieName}=${[id, ...kept].join('.')}; ${attributes}${isSecure ? '; Secure' : ''}`
    },
  }
}

function read(cookies: string | null): { id: string; proofs: string[] } | undefined {
  const value = /(?:^|;\s*)portico\.device=([\w.-]{1,300})(?:;|$)/.exec(cookies ?? '')?.[1]
  if (value === undefined) return undefined
  const [id = '', ...proofs] = value.split('.', maximumPeople + 1)
  return { id, proofs }
}

function isSame(given: string, expected: string): boolean {
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}
