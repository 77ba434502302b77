import { createHmac } from 'node:crypto'
import type { PasswordHashing } from '../../tenants/accounts/index.ts'
import type { Config } from '../config/config.ts'
import { createChangeFeed, DatabaseStartError } from '../../platform/database/index.ts'
import { createErasureKeys, deriveErasureKeys, hasErasures } from '../../chat/erasures/index.ts'
import { secretKeyCheck } from '../backup/index.ts'
import { createMetrics } from '../../platform/http/index.ts'
import { type Clock, createPseudonyms, createSecretBox, type Log } from '../../platform/kernel/index.ts'
import { openInstallationKey } from '../../tenants/operators/index.ts'
import { createTokenCounting } from '../../gateway/tokens/index.ts'
import type { ControlStorage } from './storage.ts'
import { openTelemetry } from './telemetry.ts'

/** Registers a function that a stop calls. A stop calls them in reverse order. */
export type OnStop = (close: () => unknown) => void

/** What every part receives. */
export interface PartContext {
  config: Config
  clock: Clock
  log: Log
  instanceExpiryMs?: number | undefined
  onStop: OnStop
  /** Tests pass a cheap one. */
  passwordHashing?: PasswordHashing | undefined
}

/** The change feed, token counting, metrics, telemetry and the encryption of secrets, next to the control database. */
export async function openFoundation({ databases, secretKey }: ControlStorage, context: PartContext) {
  const { config, log, clock, onStop } = context
  onStop(() => databases.close())
  const metrics = createMetrics()
  // Opened before all that it traces, so that a stop exports their last spans.
  const telemetry = await openTelemetry({ ...context, metrics })
  const { secondSecretKey } = config.secrets
  const secretBox = createSecretBox(secretKey, secondSecretKey)
  const pseudonyms = createPseudonyms(secretKey)
  const { control } = databases
  const erasureKeys = await openInstallationKey({ control, secretBox, log }, 'erasures', {
    make: () => deriveErasureKeys(secretKey),
    async beforeFirst() {
      if (secondSecretKey !== undefined && (await hasErasures(control))) throw unstoredErasureKeys()
    },
  })
  const changeFeed = createChangeFeed({ database: control, clock, log })
  await changeFeed.start()
  onStop(() => changeFeed.close())
  const tokens = createTokenCounting({ log })
  onStop(() => tokens.close())
  return {
    control,
    changeFeed,
    tokens,
    metrics,
    telemetry,
    secretBox,
    pseudonyms,
    accountSecrets: {
      secret: accountsSecret(secretKey),
      secondSecret: secondSecretKey === undefined ? undefined : accountsSecret(secondSecretKey),
    },
    erasureKeys: createErasureKeys(erasureKeys),
    keyCheck: secretKeyCheck(secretKey),
  }
}

function accountsSecret(secretKey: string): string {
  return createHmac('sha256', secretKey).update('portico accounts v1').digest('base64url')
}

/** They are derived from the secret key of the time of the erasures, which must not be the second one already. */
function unstoredErasureKeys(): DatabaseStartError {
  return new DatabaseStartError(
    'start this version once without PORTICO_SECOND_SECRET_KEY, and with the secret key that you have: it stores the keys that sign certificates of erasure',
  )
}
