import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Config, ConfigError } from '../config/index.ts'
import { assertWritable } from '../../platform/kernel/index.ts'

/**
 * The configured secret key. Otherwise a key that is generated at the first start and stored in the data folder, readable by this user
 * only. The file is complete or absent, even if another process starts at the same time or this one is killed.
 */
export async function openSecretKey({ settings, secrets }: Config): Promise<string> {
  if (secrets.secretKey !== undefined) return secrets.secretKey
  const file = path.join(settings.dataFolder, 'secret.key')
  if (!existsSync(file)) {
    assertWritable(settings.dataFolder)
    const unfinished = `${file}.${randomUUID()}`
    await writeFile(unfinished, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600, flush: true })
    // Unlike a rename, a link never replaces the file of a faster process. Some file systems, such as exFAT, have no links.
    await link(unfinished, file).catch((error: NodeJS.ErrnoException) =>
      error.code === 'EEXIST' ? undefined : rename(unfinished, file),
    )
    await rm(unfinished, { force: true })
  }
  const key = (await readFile(file, 'utf8')).trim()
  if (Buffer.byteLength(key) < 32)
    throw new ConfigError(
      `${file} is damaged: a secret key has at least 32 bytes. Restore the file from a backup; a new key could not read what the old one has encrypted.`,
    )
  return key
}

/** What people's sessions and second factors are protected with. */
export function accountsSecret(secretKey: string): string {
  return createHmac('sha256', secretKey).update('portico accounts v1').digest('base64url')
}
