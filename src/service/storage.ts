import { isUnfinishedRestore } from '../backup/unfinished-restore.ts'
import type { Config } from '../config.ts'
import { createRecentEvents, type RecentEvents } from '../console/recent-events.ts'
import { type Databases, DatabaseStartError, openDatabases } from '../database/index.ts'
import type { Clock, Log } from '../kernel/index.ts'
import { isMoved, movedMark } from './moved-mark.ts'
import { openSecretKey } from './secret-key.ts'

/**
 * What a start opens first. This module imports little: the threads of the embedded databases work while the process loads the modules
 * of the other parts, which takes about as long.
 */
export interface Storage {
  databases: Databases
  secretKey: string
  events: RecentEvents
  /** Keeps warnings and errors in `events`. */
  log: Log
}

export interface StorageOptions {
  config: Config
  log: Log
  clock: Clock
}

/** The secret key and both databases with all migrations. */
export async function openStorage({ config, log: processLog, clock }: StorageOptions): Promise<Storage> {
  const { settings, secrets } = config
  const events = createRecentEvents(() => clock.now())
  const log = events.record(processLog)
  // Before a secret key is made in the folder.
  if (isUnfinishedRestore(settings.dataFolder)) {
    throw new DatabaseStartError(
      `a restore into ${settings.dataFolder} did not end: run portico restore again, or choose another data folder`,
    )
  }
  if (secrets.databaseUrl === undefined && isMoved(settings.dataFolder)) {
    throw new DatabaseStartError(
      `${settings.dataFolder} is moved to a PostgreSQL server (${movedMark(settings.dataFolder)}): set DATABASE_URL. To use the embedded databases again, remove that file`,
    )
  }
  const secretKey = await openSecretKey(config)
  const databases = await openDatabases({
    dataFolder: settings.dataFolder,
    databaseUrl: secrets.databaseUrl,
    databaseDirectUrl: secrets.databaseDirectUrl,
    corpusDatabaseUrl: secrets.corpusDatabaseUrl,
    corpusDatabaseDirectUrl: secrets.corpusDatabaseDirectUrl,
    limits: settings.database,
    clock,
    log,
  })
  performance.mark('databases opened')
  return { databases, secretKey, events, log }
}
