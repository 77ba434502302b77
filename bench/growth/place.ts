import fs from 'node:fs'
import path from 'node:path'
import { silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import { runOnServer, testServerUrl, urlOfDatabase } from '../../test/harness/database-template.ts'
import { insertDocumentRows } from '../../test/harness/document-rows.ts'
import { fillUsage, usageOrganisation } from '../usage-data.ts'
import { type OpenedDatabases, openDatabases } from '../../test/harness/statements.ts'

const organisations = 10_000
const entriesPerDocument = 100
/** The Space of all documents. */
export const growthSpace = '00000000-0000-7000-9000-000000000001'

/** One size of the data, of which several can be open. */
export interface GrowthPlace {
  engine: 'embedded' | 'postgres'
  documents: number
  dataFolder: string
  databaseUrl: string | undefined
  open(): Promise<OpenedDatabases>
  remove(): Promise<void>
}

/** Data with so many entries in a folder, and on a server in the database of its name. Those that are there are used again. */
export async function openGrowthPlace(dataFolder: string, entries: number): Promise<GrowthPlace> {
  fs.mkdirSync(dataFolder, { recursive: true })
  const server = testServerUrl()
  const name = path.basename(dataFolder)
  const databaseUrl = server === undefined ? undefined : urlOfDatabase(server, name)
  if (server !== undefined) {
    await runOnServer(server, `create database ${name}`).catch((error: unknown) => {
      if ((error as { code?: string }).code !== '42P04') throw error
    })
  }
  const documents = entries / entriesPerDocument
  const open = () => openDatabases({ dataFolder, databaseUrl, clock: systemClock, log: silentLog })
  const databases = await open()
  await fillUsage(databases.control, { entries, organisations })
  const [row] = await databases.corpus.query<{ empty: boolean }>('select not exists (select from documents) as empty')
  if (row!.empty) {
    const space = { organisationId: usageOrganisation(0), spaceId: growthSpace, count: documents }
    await insertDocumentRows(databases.corpus, space)
  }
  await databases.close()
  return {
    engine: databases.control.engine,
    documents,
    dataFolder,
    databaseUrl,
    open,
    async remove() {
      if (server !== undefined) await runOnServer(server, `drop database ${name} with (force)`)
      fs.rmSync(dataFolder, { recursive: true })
    },
  }
}
