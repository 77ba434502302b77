import path from 'node:path'
import type { Clock, Log } from '../kernel/index.ts'
import { lockFolder } from './embedded/folder-lock.ts'
import { initialiseIfMissing, openEmbedded } from './embedded/open-embedded.ts'
import { findTemplate } from './embedded/template.ts'
import type { Database, Databases, LogicalDatabase } from './port.ts'
import { openServer } from './server/open-server.ts'
import type { ServerLimits } from './session.ts'

export interface OpenDatabasesOptions {
  /** The service's data folder; the embedded databases are in its folder `database`. */
  dataFolder: string
  /** A PostgreSQL server for both logical databases (schemas portico_control and portico_corpus); embedded without it. */
  databaseUrl?: string | undefined
  /** A separate server for the corpus. */
  corpusDatabaseUrl?: string | undefined
  /** The servers themselves, where the URLs above lead to a pooler in transaction mode. */
  databaseDirectUrl?: string | undefined
  corpusDatabaseDirectUrl?: string | undefined
  /** A standby of the server of `databaseUrl`, for reports, and for searches where that server has the corpus. */
  databaseReplicaUrl?: string | undefined
  /** For servers; the embedded engine has one connection. */
  limits?: Partial<ServerLimits> | undefined
  clock: Clock
  log: Log
  /** Default: the project's scripts. */
  migrationsFolder?: string | undefined
  /** Of embedded databases that first starts copy; default: those of the installation. Not used with another migrationsFolder. */
  templatesFolder?: string | undefined
  /** Opens a server to which an embedded database is being moved. */
  allowUnfinishedMove?: boolean | undefined
}

/** Opens control and corpus and runs their migrations. Throws DatabaseStartError with the remedy. */
export async function openDatabases(options: OpenDatabasesOptions): Promise<Databases> {
  const { dataFolder, clock, log, migrationsFolder } = options
  const urls: Record<LogicalDatabase, string | undefined> = {
    control: options.databaseUrl,
    corpus: options.corpusDatabaseUrl ?? options.databaseUrl,
  }
  const directUrls: typeof urls = {
    control: options.databaseDirectUrl,
    corpus: options.corpusDatabaseUrl === undefined ? options.databaseDirectUrl : options.corpusDatabaseDirectUrl,
  }
  const embeddedFolder = embeddedFolderOf(dataFolder)
  const unlock = urls.control && urls.corpus ? () => {} : lockFolder(embeddedFolder)

  function open(name: LogicalDatabase): Promise<Database> {
    const url = urls[name]
    if (url === undefined) {
      return openEmbedded({ name, folder: path.join(embeddedFolder, name), clock, log, migrationsFolder })
    }
    const { limits, allowUnfinishedMove } = options
    const replicaUrl = url === options.databaseUrl ? options.databaseReplicaUrl : undefined
    const directUrl = directUrls[name]
    return openServer({ name, url, directUrl, replicaUrl, limits, log, migrationsFolder, allowUnfinishedMove })
  }

  try {
    await initialiseMissing(
      (['control', 'corpus'] as const).filter((name) => urls[name] === undefined),
      options,
    )
  } catch (error) {
    unlock()
    throw error
  }
  const opened = await Promise.allSettled([open('control'), open('corpus')])
  const [control, corpus] = opened
  if (control.status === 'rejected' || corpus.status === 'rejected') {
    await Promise.all(opened.map((result) => (result.status === 'fulfilled' ? result.value.close() : undefined)))
    unlock()
    throw control.status === 'rejected' ? control.reason : (corpus as PromiseRejectedResult).reason
  }
  return {
    control: control.value,
    corpus: corpus.value,
    async close() {
      try {
        await Promise.all([control.value.close(), corpus.value.close()])
      } finally {
        unlock()
      }
    },
  }
}

/**
 * Opens the control database alone, of a PostgreSQL server, and runs its migrations: what processes need that have nothing to do with
 * documents. Throws DatabaseStartError with the remedy.
 */
export async function openControlDatabase(
  options: Pick<OpenDatabasesOptions, 'databaseDirectUrl' | 'databaseReplicaUrl' | 'limits' | 'log'> & {
    databaseUrl: string
  },
): Promise<Omit<Databases, 'corpus'>> {
  const { databaseUrl: url, databaseDirectUrl: directUrl, databaseReplicaUrl: replicaUrl, limits, log } = options
  const control = await openServer({ name: 'control', url, directUrl, replicaUrl, limits, log })
  return { control, close: () => control.close() }
}

/** Creates the folders of the embedded databases that are missing, one after the other because of the memory that it takes. */
async function initialiseMissing(names: LogicalDatabase[], options: OpenDatabasesOptions): Promise<void> {
  // A template has the migrations of this version, not those of another folder.
  const hasTemplates = options.migrationsFolder === undefined
  let initialised: string | undefined
  for (const name of names) {
    const folder = path.join(embeddedFolderOf(options.dataFolder), name)
    const template = hasTemplates ? findTemplate(name, options.templatesFolder) : undefined
    const isNew = await initialiseIfMissing(folder, template ?? initialised)
    // Before their migrations, both databases are the same.
    if (isNew && template === undefined) initialised = folder
  }
}

function embeddedFolderOf(dataFolder: string): string {
  return path.resolve(dataFolder, 'database')
}
