import { createHmac } from 'node:crypto'
import type { Config } from '../config.ts'
import { createChangeFeed } from '../database/index.ts'
import { createErasureKeys } from '../erasures/index.ts'
import { secretKeyCheck } from '../backup/index.ts'
import { createMetrics } from '../http/index.ts'
import { type Clock, createPseudonyms, createSecretBox, type Log } from '../kernel/index.ts'
import { createTokenCounting } from '../tokens/index.ts'
import type { ControlStorage } from './storage.ts'

/** Registers a function that a stop calls. A stop calls them in reverse order. */
export type OnStop = (close: () => unknown) => void

/** What every part receives. */
export interface PartContext {
  config: Config
  clock: Clock
  log: Log
  onStop: OnStop
}

/** The change feed, token counting, metrics and the encryption of secrets, next to the control database. */
export async function openFoundation({ databases, secretKey }: ControlStorage, { log, clock, onStop }: PartContext) {
  onStop(() => databases.close())
  const secretBox = createSecretBox(secretKey)
  const pseudonyms = createPseudonyms(secretKey)
  const accountsSecret = createHmac('sha256', secretKey).update('portico accounts v1').digest('base64url')
  const { control } = databases
  const changeFeed = createChangeFeed({ database: control, clock, log })
  await changeFeed.start()
  onStop(() => changeFeed.close())
  const tokens = createTokenCounting({ log })
  onStop(() => tokens.close())
  return {
    control,
    changeFeed,
    tokens,
    metrics: createMetrics(),
    secretBox,
    pseudonyms,
    accountsSecret,
    erasureKeys: createErasureKeys(secretKey),
    keyCheck: secretKeyCheck(secretKey),
  }
}
