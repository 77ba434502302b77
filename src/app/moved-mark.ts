import { existsSync } from 'node:fs'
import path from 'node:path'

/** Its presence: the embedded databases of the folder are being moved to a server, or were. */
export function movedMark(dataFolder: string): string {
  return path.join(dataFolder, 'moved-to-postgres.json')
}

export function isMoved(dataFolder: string): boolean {
  return existsSync(movedMark(dataFolder))
}
