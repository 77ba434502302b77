import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cannotMount, mountSmallFileSystem } from '../harness/small-file-system.ts'

const root = path.join(import.meta.dirname, '../..')
const full = mountSmallFileSystem(1)
const readOnly = mountSmallFileSystem(1)
afterAll(() => {
  full?.remove()
  readOnly?.remove()
})

/** Runs a start that fails. */
function start(dataFolder: string) {
  return spawnSync(path.join(root, 'bin/run'), ['src/main.ts'], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], PORTICO_DATA_DIR: dataFolder, PORT: '0', PORTICO_METRICS_PORT: '0' },
    timeout: 60_000,
  })
}

describe.skipIf(!readOnly)(`a start that fails${readOnly ? '' : ` (${cannotMount})`}`, () => {
  beforeAll(() => {
    full!.fill()
    readOnly!.makeReadOnly()
  })

  it.each([
    ['a full file system', full, 'ENOSPC, no space left on the device'],
    ['a read-only file system', readOnly, 'EROFS, the file system is read-only'],
  ])('on %s names the folder and the cause in one line', (_what, disk, cause) => {
    for (const dataFolder of [disk!.folder, path.join(disk!.folder, 'data')]) {
      const { status, stderr } = start(dataFolder)
      expect(status).toBe(1)
      expect(stderr.trim()).toMatch(new RegExp(`^portico: ${dataFolder} cannot be used: ${cause}[^\\n]*$`))
    }
  })
})
