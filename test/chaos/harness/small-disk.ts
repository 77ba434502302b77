import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A file system in memory whose size a test changes. */
export interface SmallDisk {
  folder: string
  /** No block is free until `makeRoom`. */
  fill(): void
  makeRoom(): void
  remove(): void
}

const roomyBytes = 1024 ** 3
const maximumFills = 50

/** Copies `source` to a new small disk. Undefined where this process may not mount, as without root or in most containers. */
export function mountSmallDisk(source: string): SmallDisk | undefined {
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-small-disk-'))
  const mount = (...options: string[]) =>
    execFileSync('mount', ['-t', 'tmpfs', '-o', options.join(','), 'tmpfs', folder], { stdio: 'pipe' })
  try {
    mount(`size=${roomyBytes}`)
  } catch {
    rmSync(folder, { recursive: true })
    return undefined
  }
  for (const name of readdirSync(source)) cpSync(path.join(source, name), path.join(folder, name), { recursive: true })
  return {
    folder,
    fill() {
      for (let attempt = 1; ; attempt++) {
        const { blocks, bfree, bsize } = statfsSync(folder)
        try {
          mount('remount', `size=${(blocks - bfree) * bsize}`)
          return
        } catch (error) {
          // Refused where the service has written in between.
          if (attempt === maximumFills) throw error
        }
      }
    },
    makeRoom: () => void mount('remount', `size=${roomyBytes}`),
    remove() {
      execFileSync('umount', ['--lazy', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
