import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { isUnfinishedRestore } from '../backup/index.ts'
import { removeJournal } from '../../gateway/billing/index.ts'
import { type Config, loadConfig } from '../config/index.ts'
import {
  checkTarget,
  type OwnedDatabase,
  type Databases,
  endMove,
  moveDatabase,
  type MovedRows,
  MoveError,
  openDatabases,
} from '../../platform/database/index.ts'
import { type BlobStore, createFolderBlobStore } from '../../documents/documents/index.ts'
import { createUuid, sharedOwner, silentLog, systemClock } from '../../platform/kernel/index.ts'
import { movedMark } from '../storage.ts'
import { openBlobStore } from '../parts/document-stores.ts'

/** `portico migrate embedded-to-postgres`: the configuration of the service names the data folder and the server. */

const names = ['corpus', 'control'] as const

export interface MoveReport {
  control: MovedRows
  corpus: MovedRows
  files: { store: string; found: number; uploaded: number; missing: string[] }
}

/** The file `moved-to-postgres.json` in the data folder. */
interface MoveMark {
  /** Also in the databases on the server, until the end. */
  moveId: string
  finishedAt?: string
  report?: MoveReport
}

type Report = (text: string) => void

export async function moveToPostgres(_options: object, report: Report): Promise<MoveReport> {
  const config = loadConfig()
  const { dataFolder } = config.settings
  assertEmbedded(config)
  report('opening the embedded databases')
  const common = { dataFolder, clock: systemClock, log: silentLog }
  // Locks the folder: it fails while a service uses it.
  const source = await openDatabases(common)
  try {
    report('opening the databases on the server')
    const target = await openDatabases({ ...common, ...serverOf(config), allowUnfinishedMove: true })
    try {
      return await move(config, { source, target }, report)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

function assertEmbedded({ settings: { dataFolder }, secrets }: Config): void {
  if (secrets.databaseUrl === undefined) {
    throw new MoveError('DATABASE_URL must name the PostgreSQL server to move to')
  }
  if (isUnfinishedRestore(dataFolder)) throw new MoveError(`a restore into ${dataFolder} did not end`)
  const missing = names.find((name) => !existsSync(path.join(dataFolder, 'database', name)))
  if (missing === undefined) return
  throw new MoveError(
    `${dataFolder} has no embedded ${missing} database: name the data folder of the service with PORTICO_DATA_DIR`,
  )
}

/** Without a pooler: building an index takes longer than a pooler may allow. */
function serverOf({ secrets }: Config) {
  const { databaseUrl, databaseDirectUrl, corpusDatabaseUrl, corpusDatabaseDirectUrl } = secrets
  return {
    databaseUrl: databaseDirectUrl ?? databaseUrl,
    corpusDatabaseUrl: corpusDatabaseDirectUrl ?? corpusDatabaseUrl,
  }
}

async function move(
  config: Config,
  { source, target }: { source: Databases; target: Databases },
  report: Report,
): Promise<MoveReport> {
  const { dataFolder } = config.settings
  const mark = readMark(dataFolder) ?? { moveId: createUuid() }
  const isCopied = await checkTargets(source, target, mark)
  if (mark.finishedAt !== undefined) {
    if (!isCopied || mark.report === undefined) {
      throw new MoveError(`${dataFolder} was moved at ${mark.finishedAt} (${movedMark(dataFolder)})`)
    }
    // Killed just before the last step.
    await endMove(target)
    return mark.report
  }
  writeMark(dataFolder, mark)
  const journal = path.join(dataFolder, 'ledger-journal')
  await removeJournal({
    clock: systemClock,
    log: silentLog,
    database: source.control.for(sharedOwner),
    folder: journal,
  })
  const moved: Partial<Record<(typeof names)[number], MovedRows>> = {}
  for (const name of names) {
    moved[name] = await moveDatabase({
      source: source[name].for(sharedOwner),
      target: target[name].for(sharedOwner),
      moveId: mark.moveId,
      onProgress: (text) => report(`${name}: ${text}`),
    })
  }
  const files = await checkFiles(config, source.corpus.for(sharedOwner), report)
  const result = { control: moved.control!, corpus: moved.corpus!, files }
  writeMark(dataFolder, { ...mark, finishedAt: new Date().toISOString(), report: result })
  await endMove(target)
  return result
}

/** Before anything is written. Returns whether both have all rows of this move already. */
async function checkTargets(source: Databases, target: Databases, { moveId, finishedAt }: MoveMark): Promise<boolean> {
  try {
    const copied = []
    for (const name of names)
      copied.push(
        await checkTarget({ source: source[name].for(sharedOwner), target: target[name].for(sharedOwner), moveId }),
      )
    return copied.every(Boolean)
  } catch (error) {
    // The server is in use since its end.
    if (error instanceof MoveError && finishedAt !== undefined) return false
    throw error
  }
}

function readMark(dataFolder: string): MoveMark | undefined {
  const file = movedMark(dataFolder)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as MoveMark) : undefined
}

function writeMark(dataFolder: string, mark: MoveMark): void {
  writeFileSync(movedMark(dataFolder), `${JSON.stringify(mark, null, 2)}\n`, { mode: 0o600, flush: true })
}

const blobPage = 1_000
const namedMissing = 20

/**
 * Uploaded files stay in the data folder, unless the configuration names an object store: it gets those that it does not have. Looks for the file
 * of every document.
 */
async function checkFiles(config: Config, corpus: OwnedDatabase, report: Report): Promise<MoveReport['files']> {
  const folder = await createFolderBlobStore(path.join(config.settings.dataFolder, 'blobs'))
  const store = config.settings.documents.blobs.kind === 'folder' ? folder : await openBlobStore(config)
  const files: MoveReport['files'] = { store: store.label, found: 0, uploaded: 0, missing: [] }
  try {
    for await (const key of blobKeys(corpus)) {
      const isThere = await store.exists(key)
      if (isThere) files.found++
      else if (store !== folder && (await upload(key, folder, store))) files.uploaded++
      else if (files.missing.length < namedMissing) files.missing.push(key)
      if ((files.found + files.uploaded) % blobPage === 0) report(`files: ${files.found + files.uploaded}`)
    }
  } finally {
    await folder.close()
    if (store !== folder) await store.close()
  }
  return files
}

async function* blobKeys(corpus: OwnedDatabase): AsyncIterable<string> {
  let after = ''
  for (;;) {
    const rows = await corpus.query<{ key: string }>(
      'select blob_key as key from documents where blob_key > $1 order by blob_key limit $2',
      [after, blobPage],
    )
    for (const { key } of rows) yield key
    if (rows.length < blobPage) return
    after = rows.at(-1)!.key
  }
}

async function upload(key: string, from: BlobStore, to: BlobStore): Promise<boolean> {
  if (!(await from.exists(key))) return false
  const { signal } = new AbortController()
  await to.put(key, await from.open(key, signal), signal)
  return true
}
