import { statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import { type Clock, describeError, type Log, repeatWork } from '../../platform/kernel/index.ts'
import { recordDisk } from './alerts.store.ts'

const reportEveryMs = 60_000

/** Reports the room on the disk of a folder, so that an instance elsewhere can raise the alert. */
export function createDiskReport(deps: { database: OwnedDatabase; folder: string; clock: Clock; log: Log }) {
  const { database, folder, clock, log } = deps
  async function report(): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(folder)
    await recordDisk(database, {
      host: hostname(),
      folder,
      freeBytes: bavail * bsize,
      totalBytes: blocks * bsize,
    })
  }
  const onFailed = (error: unknown) => {
    // A process with a database server may have no data folder.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.warn({ error: describeError(error) }, 'the room on the disk could not be reported')
  }
  const repeated = repeatWork({ clock, everyMs: reportEveryMs, work: report, onFailed })
  return { report: () => report().catch(onFailed), close: () => repeated.close() }
}
