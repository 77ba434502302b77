import { ExtractionError } from '../extraction.ts'
import { createFileExtractor } from '../extractors/extract-file.ts'
import { defaultLimits } from '../isolation/limits.ts'
import { startWatchdog } from '../isolation/start-watchdog.ts'
import { type ExtractedTable, readTables } from './read-tables.ts'
import { createTableDatabase, SqlError, type TableDatabase } from './table-database.ts'
import type { FromTableProcess, TableAnswer, TableDocument, TableWork, ToTableProcess } from './table-protocol.ts'

/**
 * The program of a child process that loads the tables of documents into SQLite and runs statements of models on them, one request at
 * a time. As extractor-process.ts it has no secrets and may read only the folders that it was given.
 */

/** Sets of documents that stay loaded. */
const maximumLoaded = 3

const watchdog = startWatchdog()
const extractor = createFileExtractor()
const loaded = new Map<string, TableDatabase>()

process.on('message', (message: ToTableProcess) => void handle(message).then(send))
void watchdog.online.then(() => send({ type: 'ready' }))

async function handle({ documents, filePaths, work, memoryLimitBytes }: ToTableProcess): Promise<FromTableProcess> {
  watchdog.setMemoryLimit(memoryLimitBytes)
  try {
    const key = JSON.stringify(documents.map((document) => document.key))
    let database = loaded.get(key)
    if (!database) {
      if (!filePaths) return { type: 'missing' }
      database = createTableDatabase(await readDocuments(documents, filePaths))
    }
    keep(key, database)
    send({ type: 'loaded' })
    return { type: 'done', answer: perform(database, work) }
  } catch (error) {
    if (error instanceof SqlError) return { type: 'refused', message: error.message }
    if (error instanceof ExtractionError)
      return { type: 'refused', message: `The file cannot be read. ${error.message}` }
    process.stderr.write(String(error))
    process.exit(1)
  }
}

/** The set used last is removed last. */
function keep(key: string, database: TableDatabase) {
  loaded.delete(key)
  loaded.set(key, database)
  if (loaded.size <= maximumLoaded) return
  const [oldest] = loaded
  oldest![1].close()
  loaded.delete(oldest![0])
}

async function readDocuments(documents: readonly TableDocument[], filePaths: readonly string[]) {
  const read: { key: string; tables: ExtractedTable[] }[] = []
  for (const [index, { key, format, sizeBytes, declaredEncoding, readsEmbedded }] of documents.entries()) {
    const limits = defaultLimits(format, sizeBytes)
    const report = { progress() {}, warn() {} }
    const input = { filePath: filePaths[index]!, sizeBytes, declaredEncoding, readsEmbedded, limits, report }
    read.push({ key, tables: await readTables(extractor.extract(format, input)) })
  }
  return read
}

function perform(database: TableDatabase, work: TableWork): TableAnswer {
  return work.kind === 'query'
    ? { kind: 'result', result: database.query(work.sql) }
    : { kind: 'described', tables: database.describe(work.words, work.maximumRowBytes) }
}

function send(message: FromTableProcess) {
  process.send?.(message)
}
