import path from 'node:path'
import { type Clock, describeFileFault, describeLackOfRoom, type Log, sharedOwner } from '../../kernel/index.ts'
import { createDatabase } from '../create-database.ts'
import { DatabaseStartError, shortMessage } from '../database-error.ts'
import { loadFeatures } from '../features.ts'
import { migrate } from '../migrate.ts'
import type { Database, LogicalDatabase } from '../port.ts'
import { copyDatabase } from './copy-database.ts'
import { createEmbeddedSource, initialiseFolder } from './embedded-source.ts'
import { type Maintenance, startMaintenance } from './maintenance.ts'
import { startOnlineCopy } from './online-copy.ts'
import { isDatabase } from './template.ts'

// PGlite writes zeros over all of it at the start, so that each megabyte takes memory. The operating system caches the same files: with 8,
// and with 32 MB, inserts and selects by key take the same processor time; with 4 MB they take up to a tenth more.
const sharedBuffersMegabytes = 8

export interface EmbeddedOptions {
  name: LogicalDatabase
  /** The folder of this logical database, created at the first start. Its parent must be locked. */
  folder: string
  clock: Clock
  log: Log
  migrationsFolder?: string | undefined
}

/**
 * Creates the folder of one database where it is missing: copies `template`, the folder of a closed database, or initialises a new one,
 * which takes seconds and, briefly, 1 GB of memory. Returns whether it did.
 */
export async function initialiseIfMissing(folder: string, template?: string): Promise<boolean> {
  if (isDatabase(folder)) return false
  try {
    if (template !== undefined) await copyDatabase(template, folder)
    else await initialiseFolder({ folder, sharedBuffersMegabytes })
    return true
  } catch (error) {
    throw new DatabaseStartError(`no database could be created in ${folder}: ${reasonOf(error, folder)}`, {
      cause: error,
    })
  }
}

/** A start that lacks room fails in PostgreSQL, of whose end PGlite reports no reason. */
function reasonOf(error: unknown, folder: string): string {
  const fault = describeFileFault(error) ?? describeLackOfRoom(path.dirname(folder))
  return fault ?? shortMessage(error)
}

/** Opens one embedded database and runs its migrations. */
export async function openEmbedded({ name, folder, clock, log, migrationsFolder }: EmbeddedOptions): Promise<Database> {
  const source = await createEmbeddedSource({
    name,
    folder,
    sharedBuffersMegabytes,
    log,
  }).catch((error: unknown) => {
    throw new DatabaseStartError(`the embedded database in ${folder} could not be opened: ${reasonOf(error, folder)}`, {
      cause: error,
    })
  })
  try {
    const features = await loadFeatures(source)
    await migrate({ name, engine: 'embedded', source, log, folder: migrationsFolder })
    let maintenance: Maintenance | undefined
    const database = createDatabase({
      name,
      engine: 'embedded',
      features,
      source: {
        ...source,
        close() {
          maintenance?.stop()
          return source.close()
        },
      },
      startCopy: () => startOnlineCopy({ folder, source, holdCheckpoints: () => maintenance!.holdCheckpoints() }),
    })
    maintenance = startMaintenance({ database: database.for(sharedOwner), clock, log, load: source.load })
    return database
  } catch (error) {
    await source.close()
    throw error
  }
}
