import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { assertWritable, describeFileFault, describeLackOfRoom } from '../../kernel/index.ts'
import { DatabaseStartError, shortMessage } from '../database-error.ts'

/**
 * Locks the folder for this process. PGlite has no lock, and two processes in one folder corrupt it silently (measured: in 3 of 3
 * cases). SQLite uses a file lock of the kernel, which ends with the process, also after kill -9. Returns the function that unlocks.
 * Throws DatabaseStartError where another process holds the lock, and where the folder cannot be written.
 */
export function lockFolder(folder: string): () => void {
  const file = path.join(folder, 'lock')
  let lock: DatabaseSync | undefined
  try {
    assertWritable(folder)
    lock = new DatabaseSync(file)
    lock.exec('pragma busy_timeout = 0; pragma journal_mode = delete; begin exclusive')
  } catch (error) {
    lock?.close()
    throw new DatabaseStartError(
      isBusy(error)
        ? `the data folder ${folder} is in use by another Portico process: stop that process, or choose another data folder`
        : `the data folder ${folder} cannot be used: ${describeFileFault(error) ?? describeLackOfRoom(folder) ?? shortMessage(error)}`,
      { cause: error },
    )
  }
  return () => {
    if (lock.isOpen) lock.close()
  }
}

/** SQLITE_BUSY, the only error of SQLite that means another holder (sqlite.org/rescode.html). */
const sqliteBusy = 5

const isBusy = (error: unknown) => (error as { errcode?: unknown }).errcode === sqliteBusy
