import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { migrationsFolder } from '../../src/platform/database/migration-scripts.ts'

/** The last scripts that were made before the first release. Later ones run while an earlier version serves requests. */
export const firstRelease = { control: '0150-usage-retention', corpus: '0111-vector-segments' }

/** A folder with the scripts of the first release only. The caller removes it. */
export function copyScriptsOfFirstRelease(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-scripts-'))
  for (const [name, last] of Object.entries(firstRelease)) {
    fs.mkdirSync(path.join(folder, name))
    for (const file of fs.readdirSync(path.join(migrationsFolder, name)))
      if (file <= `${last}.sql`) fs.copyFileSync(path.join(migrationsFolder, name, file), path.join(folder, name, file))
  }
  return folder
}
