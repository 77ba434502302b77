import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

/** Passwords of sites as `salt.key`. One check takes about 60 ms in a thread of the pool, and 32 MB. */

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)
// OWASP: N = 2^15, r = 8, p = 3 is as strong as N = 2^17, p = 1, with a quarter of the memory.
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 }
const keyBytes = 32

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password.normalize('NFKC'), salt, keyBytes, cost)
  return `${salt.toString('base64url')}.${key.toString('base64url')}`
}

export async function isPassword(given: string, hash: string): Promise<boolean> {
  const [salt = '', key = ''] = hash.split('.')
  const derived = await derive(given.normalize('NFKC'), Buffer.from(salt, 'base64url'), keyBytes, cost)
  return timingSafeEqual(derived, Buffer.from(key, 'base64url'))
}
