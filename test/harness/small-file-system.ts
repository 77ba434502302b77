import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeTemporaryFolder } from './temporary-folder.ts'

export interface SmallFileSystem {
  folder: string
  /** Leaves no free block. */
  fill(): void
  empty(): void
  makeReadOnly(): void
  remove(): void
}

const mount = (...values: string[]) => spawnSync('mount', values).status === 0

/** A file system in memory of so many MiB; undefined where this user may not mount one. */
export function mountSmallFileSystem(mebibytes: number): SmallFileSystem | undefined {
  const folder = makeTemporaryFolder('small-disk')
  if (!mount('-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'none', folder)) return undefined
  const filling = path.join(folder, 'filling')
  return {
    folder,
    fill() {
      try {
        writeFileSync(filling, Buffer.alloc(mebibytes * 2 ** 20))
      } catch {
        // It is full now.
      }
    },
    empty: () => rmSync(filling, { force: true }),
    makeReadOnly: () => void mount('-o', 'remount,ro', folder),
    remove: () => void spawnSync('umount', ['-l', folder]),
  }
}

/** Reason in the name of suites that need a mount. */
export const cannotMount = 'skipped: this user may not mount a file system'
