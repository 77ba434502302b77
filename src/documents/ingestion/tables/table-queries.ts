import type { BlobStore } from '../../documents/index.ts'
import { anySignal, AppError, createFairTurns, type Log, raceSignal } from '../../../platform/kernel/index.ts'
import { createTableProcesses, maximumProcesses, type TableChild } from './table-processes.ts'
import type {
  FromTableProcess,
  QueryResult,
  TableAnswer,
  TableDescription,
  TableDocument,
  TableWork,
} from './table-protocol.ts'

/** A document with tables, and where its file is. */
export interface TableFile extends TableDocument {
  blobKey: string
}

/**
 * Tables of documents of one Space in a SQL database. `problem`: for the model. Both throw the reason of the signal, `overloaded` where
 * too many requests of the organisation wait, or another Error for a fault of the service.
 */
export interface TableQueries {
  /** Columns, and the first rows or those with most of the words. */
  describe: (
    request: TableRequest & { words: readonly string[]; maximumRowBytes: number },
  ) => Promise<{ tables: TableDescription[] } | { problem: string }>
  /** Runs one SELECT statement. */
  query: (request: TableRequest & { sql: string }) => Promise<QueryResult | { problem: string }>
  /** Process ids of the running children. */
  processIds: () => number[]
  close: () => Promise<void>
}

export interface TableRequest {
  organisationId: string
  spaceId: string
  files: readonly TableFile[]
  signal: AbortSignal
}

export interface TableQueryOptions {
  blobs: Pick<BlobStore, 'withFile' | 'localFolders'>
  log: Log
  limits?: Partial<TableLimits>
}

export interface TableLimits {
  /** To read the files and fill the database. */
  loadMs: number
  /** For one statement. */
  statementMs: number
  /** Resident memory of a process. */
  memoryBytes: number
  /** A process that has had nothing to do for this long ends. */
  idleMs: number
  /** Largest file, in bytes. */
  fileBytes: number
}

/** A file of 20 MB with 1.5 million cells takes 6 s to load on one slow core; statements on it take 10 ms to 2 s. */
const defaultLimits: TableLimits = {
  loadMs: 20_000,
  statementMs: 5_000,
  memoryBytes: 900 * 1024 * 1024,
  idleMs: 30_000,
  fileBytes: 20 * 1024 * 1024,
}

/** Requests that wait for a process. One organisation alone may have half of them. Chats wait for 20 s at most. */
const maximumWaiting = 64

const tooMany = () =>
  new AppError('overloaded', 'Your organisation reads too many tables at once. Try again in a moment.', {
    retryAfterSeconds: 1,
  })

/**
 * Runs requests in processes, which are killed at a limit. A request may take a process for 25 s. So a process stays free for the next
 * organisation, and organisations take turns where more than two have requests.
 */
export function createTableQueries({ blobs, log, limits: given }: TableQueryOptions): TableQueries {
  const limits = { ...defaultLimits, ...given }
  const processes = createTableProcesses(blobs.localFolders, limits.idleMs)
  const turns = createFairTurns({ places: maximumProcesses, maximumWaiting, tooMany })
  const closer = new AbortController()

  async function run(request: TableRequest, work: TableWork): Promise<TableAnswer | { problem: string }> {
    const large = request.files.find(({ sizeBytes }) => sizeBytes > limits.fileBytes)
    if (large)
      return problem(`${large.name} is larger than ${limits.fileBytes / 2 ** 20} MiB, which is too large for SQL.`)
    const signal = anySignal(request.signal, closer.signal)
    return turns.run(request.organisationId, signal, () => runInTurn({ ...request, signal }, work))
  }

  async function runInTurn(request: TableRequest, work: TableWork): Promise<TableAnswer | { problem: string }> {
    const { files, signal } = request
    const slot = await processes.acquire(request, signal)
    let isSound = false
    try {
      slot.child.setBusy(true)
      // A process that is still starting serves the next request.
      isSound = true
      await raceSignal(slot.child.ready, signal)
      isSound = false
      const answer = await runInChild(slot.child, { files, work, signal }, limits, blobs)
      isSound = true
      return answer
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof StoppedError) return problem(error.message)
      log.warn({ error: String(error) }, 'a process for tables failed')
      throw error
    } finally {
      if (isSound) processes.release(slot)
      else processes.end(slot)
    }
  }

  return {
    async describe({ words, maximumRowBytes, ...request }) {
      const answer = await run(request, { kind: 'describe', words: [...words], maximumRowBytes })
      if ('problem' in answer) return answer
      if ('tables' in answer) return { tables: answer.tables }
      throw new Error('a process for tables sent another result')
    },
    async query({ sql, ...request }) {
      const answer = await run(request, { kind: 'query', sql })
      if ('problem' in answer) return answer
      if ('result' in answer) return answer.result
      throw new Error('a process for tables sent another result')
    },
    processIds: processes.processIds,
    async close() {
      closer.abort(new Error('the processes for tables are shutting down'))
      await processes.close()
    },
  }
}

const problem = (text: string) => ({ problem: text })

/** The process was ended at a limit. */
class StoppedError extends Error {}

type Work = Pick<TableRequest, 'files' | 'signal'> & { work: TableWork }

async function runInChild(child: TableChild, request: Work, limits: TableLimits, blobs: TableQueryOptions['blobs']) {
  const { files, signal } = request
  const first = await exchange(child, request, limits)
  if (first.type !== 'missing') return toAnswer(first)
  return withFiles(blobs, files, signal, async (filePaths) =>
    toAnswer(await exchange(child, request, limits, filePaths)),
  )
}

function toAnswer(reply: FromTableProcess) {
  if (reply.type === 'done') return reply.answer
  if (reply.type === 'refused') return problem(reply.message)
  throw new Error(`a process for tables sent ${reply.type}`)
}

/** Calls `use` with the paths of local copies of all files. */
function withFiles<T>(
  blobs: TableQueryOptions['blobs'],
  files: readonly TableFile[],
  signal: AbortSignal,
  use: (filePaths: string[]) => Promise<T>,
  paths: string[] = [],
): Promise<T> {
  const next = files[paths.length]
  if (!next) return use(paths)
  return blobs.withFile(next.blobKey, signal, (filePath) => withFiles(blobs, files, signal, use, [...paths, filePath]))
}

/** One request and its reply. Kills the process when a limit is reached or the signal aborts. */
function exchange(child: TableChild, { files, work, signal }: Work, limits: TableLimits, filePaths?: string[]) {
  return new Promise<FromTableProcess>((resolve, reject) => {
    let isRunning = false
    const stop = () => {
      child.kill()
      const { loadMs, statementMs } = limits
      finish(() =>
        reject(
          new StoppedError(
            isRunning
              ? `The statement took longer than ${statementMs / 1000} seconds and was stopped. Ask for less.`
              : `Reading the tables took longer than ${loadMs / 1000} seconds. They are too large for SQL.`,
          ),
        ),
      )
    }
    let timer = setTimeout(stop, limits.loadMs)
    const onAbort = () => {
      child.kill()
      finish(() => reject(signal.reason as Error))
    }
    const finish = (end: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      child.stopListening()
      end()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    child.listen(
      (message) => {
        if (message.type !== 'loaded') return finish(() => resolve(message))
        isRunning = true
        clearTimeout(timer)
        timer = setTimeout(stop, limits.statementMs)
      },
      ({ outOfMemory, errorOutput }) =>
        finish(() =>
          reject(
            outOfMemory
              ? new StoppedError('The statement took too much memory and was stopped. Ask for less.')
              : new Error(`a process for tables ended: ${errorOutput.slice(-500)}`),
          ),
        ),
    )
    const documents = files.map(({ blobKey: _key, ...document }) => document)
    const memoryLimitBytes = limits.memoryBytes
    child.send({ type: 'work', documents, work, memoryLimitBytes, ...(filePaths && { filePaths }) })
  })
}
