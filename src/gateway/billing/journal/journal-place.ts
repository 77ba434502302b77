import type { Clock } from '../../../platform/kernel/index.ts'
import type { Log } from '../../../platform/kernel/index.ts'
import type { OwnedDatabase } from '../../../platform/database/index.ts'
import type { JournalFiles } from './journal-files.ts'

export interface JournalPlace {
  database: OwnedDatabase
  /** Of this journal only; its parent exists. The embedded database next to it is locked, so no other process uses it. */
  folder: string
  clock: Clock
  log: Log
  files?: JournalFiles | undefined
  segmentBytes?: number | undefined
}
