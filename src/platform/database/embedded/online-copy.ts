import { sharedOwner } from '../../kernel/index.ts'
import fs from 'node:fs/promises'
import path from 'node:path'
import type { CopiedEntry, DatabaseCopy, PausedDatabase } from '../port.ts'
import type { SessionSource, SqlSession } from '../session.ts'

/**
 * A physical copy of a database that is in use, as pg_basebackup makes it: files are read while they change, and PostgreSQL's log from
 * the start of the copy to its end repairs what was read in the middle of a change. The copy has every commit before its end, and none
 * after it.
 */

// A checkpoint writes at most the shared buffers, but syncs all files that changed since the last one.
const startTimeoutMs = 5 * 60_000
const statementTimeoutMs = 30_000

/** Contents that PostgreSQL creates again at its start, or that belong to the running process. The folders themselves must exist. */
const emptiedFolders = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
])
const skippedFiles =
  /^(?:postmaster\.(?:pid|opts)|backup_label(?:\.old)?|tablespace_map(?:\.old)?|pg_internal\.init.*|pgsql_tmp.*)$/
/** Read at the end of the copy, while no statement runs. */
const controlFile = 'global/pg_control'
const logFolder = 'pg_wal'
const logFile = /^[0-9A-F]{24}$/

export interface OnlineCopyOptions {
  folder: string
  source: SessionSource
  /** Until `release` is called no checkpoint may run: it removes log that the copy needs. */
  holdCheckpoints(): { release(): void }
}

/** Begins a copy. `close` must be called, whether it was ended or not. */
export async function startOnlineCopy({ folder, source, holdCheckpoints }: OnlineCopyOptions): Promise<DatabaseCopy> {
  const held = holdCheckpoints()
  let isRunning = true

  async function inTurn<T>(use: (session: SqlSession) => Promise<T>): Promise<T> {
    const session = await source.acquire(sharedOwner)
    try {
      return await use(session)
    } finally {
      session.release()
    }
  }

  try {
    const schema = await inTurn(async (session) => {
      await session.run(`select pg_backup_start('portico', true)`, [], { timeoutMs: startTimeoutMs })
      return readSchema(session)
    })
    return {
      folder,
      schema,
      entries: () => listEntries(folder),
      async pause(signal): Promise<PausedDatabase> {
        const session = await source.acquire(sharedOwner, { signal })
        return {
          async end() {
            const stopped = await stopBackup(session)
            isRunning = false
            const control = await fs.readFile(path.join(folder, controlFile))
            const contents = [
              { path: 'backup_label', bytes: Buffer.from(stopped.label) },
              { path: controlFile, bytes: control },
            ]
            return { contents, log: await listLog(folder, stopped) }
          },
          release: () => session.release(),
        }
      },
      async close() {
        const wasRunning = isRunning
        isRunning = false
        try {
          if (wasRunning) await inTurn(stopBackup)
        } finally {
          held.release()
        }
      },
    }
  } catch (error) {
    held.release()
    throw error
  }
}

/** The names of the migrations that the database has, oldest first. */
export async function readSchema(session: SqlSession): Promise<string[]> {
  const { rows } = await session.run('select name from portico_migrations order by name', [], {
    timeoutMs: statementTimeoutMs,
  })
  return (rows as { name: string }[]).map(({ name }) => name)
}

interface StoppedBackup {
  label: string
  firstLogFile: string
  lastLogFile: string
}

/** Rejects where the database was reopened since the start of the copy. */
async function stopBackup(session: SqlSession): Promise<StoppedBackup> {
  const { rows } = await session.run(`select labelfile, pg_walfile_name(lsn) as last from pg_backup_stop(false)`, [], {
    timeoutMs: statementTimeoutMs,
  })
  const { labelfile: label, last } = rows[0] as { labelfile: string; last: string }
  const first = /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)/m.exec(label)?.[1]
  if (first === undefined) throw new Error(`PostgreSQL wrote a backup label without its first log file: ${label}`)
  return { label, firstLogFile: first, lastLogFile: last }
}

/** The log between start and end of the copy. Later log is left out, so that the restored database ends exactly there. */
async function listLog(folder: string, { firstLogFile, lastLogFile }: StoppedBackup): Promise<string[]> {
  const names = (await fs.readdir(path.join(folder, logFolder))).filter((name) => logFile.test(name))
  if (!names.includes(firstLogFile)) throw new Error(`the log file ${firstLogFile}, which the copy needs, was removed`)
  return names
    .filter((name) => name >= firstLogFile && name <= lastLogFile)
    .sort()
    .map((name) => `${logFolder}/${name}`)
}

async function* listEntries(root: string, within = ''): AsyncGenerator<CopiedEntry> {
  const entries = await fs.readdir(path.join(root, within), { withFileTypes: true }).catch(ignoreMissing)
  for (const entry of entries ?? []) {
    const relative = within === '' ? entry.name : `${within}/${entry.name}`
    if (entry.isDirectory()) {
      if (skippedFiles.test(entry.name)) continue
      yield { path: relative, kind: 'folder' }
      if (!emptiedFolders.has(relative)) yield* listEntries(root, relative)
      else if (relative === logFolder)
        for (const name of ['archive_status', 'summaries']) yield { path: `${relative}/${name}`, kind: 'folder' }
    } else if (entry.isFile() && relative !== controlFile && !skippedFiles.test(entry.name)) {
      yield { path: relative, kind: 'file' }
    }
  }
}

/** Tables that are dropped meanwhile. */
function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
