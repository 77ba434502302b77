import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const folders: string[] = []

/**
 * A new, empty folder `portico-NAME-XXXXXX`. It is removed after the tests of the file (remove-temporary-folders.ts), and without Vitest when
 * the process ends by itself.
 */
export function makeTemporaryFolder(name: string): string {
  if (folders.length === 0) process.once('exit', removeTemporaryFolders)
  const folder = mkdtempSync(path.join(tmpdir(), `portico-${name}-`))
  folders.push(folder)
  return folder
}

export function removeTemporaryFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
