import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { ensureTemplateFolder, runOnServer, testServerUrl, urlOfDatabase } from './database-template.ts'

/** A data folder with migrated embedded databases in it, so that a whole service starts fast. The caller removes it. */
export async function freshDataFolder(): Promise<string> {
  const template = await ensureTemplateFolder()
  const folder = makeTestFolder()
  // 2,300 files: the asynchronous copy takes six times the processor time.
  fs.cpSync(template, folder, { recursive: true })
  return folder
}

export interface DatabasePlace {
  dataFolder: string
  /** Undefined on the embedded engine. */
  databaseUrl: string | undefined
  /** Of the server itself, if `databaseUrl` is that of PgBouncer. */
  databaseDirectUrl?: string | undefined
  remove(): Promise<void>
}

/**
 * Where a service under test stores its data: a folder, and on a server run also a separate database. It has the tables of this version, or none
 * on a server with `isEmpty`.
 */
export async function freshDatabasePlace({ isEmpty = false }: { isEmpty?: boolean } = {}): Promise<DatabasePlace> {
  const url = testServerUrl()
  if (url === undefined) return freshEmbeddedPlace()
  const { dataFolder, remove } = emptyFolder()
  const template = process.env['PORTICO_TEST_DATABASE_TEMPLATE']
  if (template === undefined)
    throw new Error('run the tests through vitest: its global setup makes the template database')
  const name = `${template}_${randomBytes(6).toString('hex')}`
  await runOnServer(url, `create database ${name} template ${isEmpty ? 'template0' : template}`)
  const directUrl = urlOfDatabase(url, name)
  const poolerUrl = process.env['PORTICO_TEST_POOLER_URL']
  return {
    dataFolder,
    ...(poolerUrl === undefined
      ? { databaseUrl: directUrl }
      : { databaseUrl: urlOfDatabase(poolerUrl, name), databaseDirectUrl: directUrl }),
    async remove() {
      await runOnServer(url, `drop database if exists ${name} with (force)`)
      await remove()
    },
  }
}

/** For the files of a service that uses open databases. */
export function emptyFolder(): Pick<DatabasePlace, 'dataFolder' | 'remove'> {
  const dataFolder = makeTestFolder()
  return { dataFolder, remove: () => removeFolder(dataFolder) }
}

/** The same on the embedded engine, whatever the engine of this run. */
export async function freshEmbeddedPlace(): Promise<DatabasePlace> {
  const dataFolder = await freshDataFolder()
  return { dataFolder, databaseUrl: undefined, remove: () => removeFolder(dataFolder) }
}

/** The same place without PgBouncer, for what changes the server, its databases or a session. */
export function withoutPooler(place: DatabasePlace): DatabasePlace {
  return { ...place, databaseUrl: place.databaseDirectUrl ?? place.databaseUrl, databaseDirectUrl: undefined }
}

/** The environment variables of a service with its data there. */
export function databaseVariables({
  databaseUrl,
  databaseDirectUrl,
}: Omit<DatabasePlace, 'remove'>): Record<string, string> {
  return {
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ...(databaseDirectUrl === undefined ? {} : { DATABASE_DIRECT_URL: databaseDirectUrl }),
  }
}

/** The same for a service whose operator token and secret key are known, without the demo. */
export function serviceVariables(place: DatabasePlace, operatorToken: string): Record<string, string> {
  return {
    PORTICO_DATA_DIR: place.dataFolder,
    PORTICO_DEMO: 'false',
    PORTICO_OPERATOR_TOKEN: operatorToken,
    PORTICO_SECRET_KEY: 'a secret key of tests, 32 bytes or more',
    ...databaseVariables(place),
  }
}

// A file system in memory where there is one: on a busy disk the fsyncs of a fresh copy take seconds. Tests kill the
// process, not the machine, and files in memory survive that like files on a disk.
const memoryFolder = '/dev/shm'
const neededBytes = 2 * 1024 ** 3

/** A new, empty folder for the data of one test; the caller removes it. */
export function makeTestFolder(): string {
  return fs.mkdtempSync(path.join(process.env[runFolderVariable] ?? testFolderParent(), 'portico-test-'))
}

/** The folder of a run of vitest, which it removes at its end: its processes end by a signal and cannot remove theirs. */
export const runFolderVariable = 'PORTICO_TEST_RUN_FOLDER'

export function testFolderParent(): string {
  return hasMemoryFolder() ? memoryFolder : os.tmpdir()
}

function hasMemoryFolder(): boolean {
  try {
    fs.accessSync(memoryFolder, fs.constants.W_OK)
    const { bavail, bsize } = fs.statfsSync(memoryFolder)
    return bavail * bsize >= neededBytes
  } catch {
    return false
  }
}

export async function removeFolder(folder: string): Promise<void> {
  // Thousands of files: asynchronous calls take several times the processor time.
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
