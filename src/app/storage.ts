import { existsSync } from 'node:fs'
import path from 'node:path'
import { isUnfinishedRestore } from './backup/unfinished-restore.ts'
import type { Config } from './config/index.ts'
import { createRecentEvents, type RecentEvents } from '../console/recent-events.ts'
import { type Databases, DatabaseStartError, openControlDatabase, openDatabases } from '../platform/database/index.ts'
import { type Clock, type Log, systemClock } from '../platform/kernel/index.ts'
import { openSecretKey } from './parts/secret-key.ts'

/**
 * What a start opens first. This module imports little: the threads of the embedded databases work while the process loads the modules
 * of the other parts, which takes about as long.
 */
export interface Storage extends ControlStorage {
  databases: Databases
}

/** Of a process that has nothing to do with documents. */
export interface ControlStorage {
  databases: Omit<Databases, 'corpus'>
  secretKey: string
  events: RecentEvents
  /** Keeps warnings and errors in `events`. */
  log: Log
}

export interface StorageOptions {
  config: Config
  log: Log
  clock?: Clock | undefined
  /** Tests pass open databases. */
  databases?: Databases | undefined
}

/** The secret key and both databases with all migrations. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { config, clock = systemClock } = options
  const { settings, secrets } = config
  const { log, ...rest } = await openSecrets(options)
  const databases =
    options.databases ??
    (await openDatabases({
      dataFolder: settings.dataFolder,
      databaseUrl: secrets.databaseUrl,
      databaseDirectUrl: secrets.databaseDirectUrl,
      databaseReplicaUrl: secrets.databaseReplicaUrl,
      corpusDatabaseUrl: secrets.corpusDatabaseUrl,
      corpusDatabaseDirectUrl: secrets.corpusDatabaseDirectUrl,
      limits: settings.database,
      clock,
      log,
    }))
  performance.mark('databases opened')
  return { databases, log, ...rest }
}

/** The secret key and the control database of a server. */
export async function openControlStorage(options: StorageOptions): Promise<ControlStorage> {
  const { settings, secrets } = options.config
  const { log, ...rest } = await openSecrets(options)
  const databases = await openControlDatabase({
    databaseUrl: secrets.databaseUrl!,
    databaseDirectUrl: secrets.databaseDirectUrl,
    databaseReplicaUrl: secrets.databaseReplicaUrl,
    limits: settings.database,
    log,
  })
  performance.mark('databases opened')
  return { databases, log, ...rest }
}

async function openSecrets({ config, log: processLog, clock = systemClock }: StorageOptions) {
  const { dataFolder } = config.settings
  const events = createRecentEvents(() => clock.now())
  const log = events.record(processLog)
  // Before a secret key is made in the folder.
  if (isUnfinishedRestore(dataFolder)) {
    throw new DatabaseStartError(
      `a restore into ${dataFolder} did not end: run portico restore again, or choose another data folder`,
    )
  }
  if (config.secrets.databaseUrl === undefined && isMoved(dataFolder)) {
    throw new DatabaseStartError(
      `${dataFolder} is moved to a PostgreSQL server (${movedMark(dataFolder)}): set DATABASE_URL. To use the embedded databases again, remove that file`,
    )
  }
  return { secretKey: await openSecretKey(config), events, log }
}

/** Its presence: the embedded databases of the folder are being moved to a server, or were. */
export function movedMark(dataFolder: string): string {
  return path.join(dataFolder, 'moved-to-postgres.json')
}

function isMoved(dataFolder: string): boolean {
  return existsSync(movedMark(dataFolder))
}
