/**
 * The thread of one embedded database: opens the folder, then forwards bytes of PostgreSQL's protocol between the main thread
 * and PGlite. Its only SQL is the check of commits and the initialisation.
 */
import fs from 'node:fs'
import path from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { pg_textsearch as textSearch } from '@electric-sql/pglite-pg_textsearch'
import { vector } from '@electric-sql/pglite-pgvector'
import { collectGarbage } from '../../kernel/memory.ts'
import { shortMessage } from '../database-error.ts'
import { releaseUnusedFiles } from './bundled-files.ts'
import { assertCommitsAreSynced, createDurableFileSystem, syncPath, syncTree } from './durable-file-system.ts'
import type { FromWorker, ToWorker, WorkerTask } from './embedded-source.ts'

const port = parentPort!
const task = workerData as WorkerTask
let isUnsynced = false
/** After the start: its buffers, such as the bytes of the program of PostgreSQL (9 MB), are freed. */
const collectAfterMs = 2_000
/**
 * PostgreSQL's default is 100. `analyze` reads up to 300 times as many rows into memory (std_typanalyze in PostgreSQL's analyze.c), and a memory of
 * WebAssembly does not shrink. 25 keeps 7,500 rows; a table of 300 bytes a row takes 1.7 MB with it, 13 MB with 100.
 */
const defaultStatisticsTarget = 25

async function openInstance(folder: string) {
  const durable = createDurableFileSystem(folder, {
    onSyncFailed(error) {
      isUnsynced = true
      send({ kind: 'unsynced', message: shortMessage(error) })
    },
    onWriteFailed: fail,
  })
  const instance = await PGlite.create({
    fs: durable.fileSystem,
    extensions: { vector, textSearch },
    startParams: [
      ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'), // -F switches fsync off
      ...settings({
        fsync: 'on',
        wal_sync_method: 'fsync', // fdatasync is a no-op in Emscripten
        shared_buffers: `${task.sharedBuffersMegabytes}MB`,
        default_text_search_config: 'pg_catalog.simple',
        default_statistics_target: String(defaultStatisticsTarget),
      }),
    ],
  })
  return { instance, durable }
}

function settings(values: Record<string, string>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

// Under another name first: the next start deletes the folder that a crash leaves; it never opens half a database.
async function initialise(folder: string): Promise<void> {
  const temporary = `${folder}.new`
  fs.rmSync(temporary, { recursive: true, force: true })
  fs.mkdirSync(temporary, { recursive: true, mode: 0o700 })
  const { instance } = await openInstance(temporary)
  await instance.exec('create extension vector; create extension pg_textsearch; checkpoint;')
  await instance.close()
  syncTree(temporary)
  fs.renameSync(temporary, folder)
  syncPath(path.dirname(folder))
}

async function serve(folder: string): Promise<void> {
  const { instance, durable } = await openInstance(folder)
  releaseUnusedFiles(instance)
  await assertCommitsAreSynced(instance, durable.syncCount)
  port.on('message', (message: ToWorker) => {
    if (message === 'close') return void close(instance)
    const chunks: Uint8Array[] = []
    // The chunks are views of PGlite's memory, which changes later, so each is copied.
    void instance
      .execProtocolRawStream(message, { syncToFs: false, onRawData: (bytes) => chunks.push(bytes.slice()) })
      .then(() => {
        // PostgreSQL may report a failed fsync as the error of one statement only; no answer is sent after it.
        if (isUnsynced) return
        const answer = chunks.length === 1 ? chunks[0]! : join(chunks)
        port.postMessage(answer, [answer.buffer as ArrayBuffer])
      }, fail)
  })
  send({ kind: 'ready' })
  setTimeout(collectGarbage, collectAfterMs).unref()
}

function join(chunks: Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(chunks.reduce((total, chunk) => total + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    joined.set(chunk, offset)
    offset += chunk.length
  }
  return joined
}

async function close(instance: PGlite): Promise<void> {
  try {
    await instance.close()
    send({ kind: 'done' })
  } catch (error) {
    fail(error)
  } finally {
    port.close()
  }
}

function fail(error: unknown): void {
  send({ kind: 'failed', message: shortMessage(error) })
}

function send(message: FromWorker): void {
  port.postMessage(message)
}

try {
  if (task.kind === 'initialise') {
    await initialise(task.folder)
    send({ kind: 'done' })
  } else await serve(task.folder)
} catch (error) {
  fail(error)
}
