import { existsSync } from 'node:fs'
import path from 'node:path'

/** In the data folder while a restore runs, and after one that did not end. The service does not start with it. */
export const unfinishedFolder = 'restoring'

/** Whether a restore into the folder began and did not end. */
export function isUnfinishedRestore(dataFolder: string): boolean {
  return existsSync(path.join(dataFolder, unfinishedFolder))
}
