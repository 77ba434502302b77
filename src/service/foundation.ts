import type { Config } from '../config.ts'
import { createChangeFeed, openDatabases } from '../database/index.ts'
import { createMetrics } from '../http/index.ts'
import { type Clock, createPseudonyms, createSecretBox, type Log } from '../kernel/index.ts'
import { createTokenCounting } from '../tokens/index.ts'
import { openSecretKey } from './resources.ts'

/** What every part stands on. */
export type Foundation = Awaited<ReturnType<typeof openFoundation>>

export interface FoundationOptions {
  config: Config
  log: Log
  clock: Clock
  /** Registers what a stop closes, in the reverse order of the calls. */
  onStop: (close: () => unknown) => void
}

/** Both databases with every migration in them, the change feed, token counting, metrics and the box that seals secrets. */
export async function openFoundation({ config, log, clock, onStop }: FoundationOptions) {
  const { settings, secrets } = config
  const secretKey = await openSecretKey(config)
  const secretBox = createSecretBox(secretKey)
  const pseudonyms = createPseudonyms(secretKey)
  const databases = await openDatabases({
    dataFolder: settings.dataFolder,
    databaseUrl: secrets.databaseUrl,
    corpusDatabaseUrl: secrets.corpusDatabaseUrl,
    clock,
    log,
  })
  onStop(() => databases.close())
  const { control, corpus } = databases
  const changeFeed = createChangeFeed({ database: control, clock, log })
  await changeFeed.start()
  onStop(() => changeFeed.close())
  const tokens = createTokenCounting({ log })
  onStop(() => tokens.close())
  return {
    config,
    log,
    clock,
    onStop,
    tokens,
    metrics: createMetrics(),
    secretBox,
    pseudonyms,
    control,
    corpus,
    changeFeed,
  }
}
