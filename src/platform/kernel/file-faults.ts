import fs from 'node:fs'
import path from 'node:path'

/** Errors of the operating system that only its administrator resolves, and what to do. */
const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the device. Free space or inodes, or enlarge the file system',
  EDQUOT: 'the disk quota is used up. Free space, or raise the quota',
  EFBIG: 'the file is larger than this user may write. Raise the limit (ulimit -f)',
  EROFS: 'the file system is read-only. Mount it for writing; after a disk error, read the log of the kernel first',
  EACCES: 'this user has no permission. Change the owner or the mode',
  EPERM: 'this user has no permission. Change the owner or the mode',
  EIO: 'input/output error. Check the disk and the log of the kernel',
  ENODEV: 'the file system is gone. Mount it again',
  ENXIO: 'the file system is gone. Mount it again',
  ESTALE: 'the file system is gone. Mount it again',
  ENOTDIR: 'a file is in the place of a folder. Move it away, or choose another folder',
  EEXIST: 'a file or a broken link is in the place of a folder. Move it away, or choose another folder',
  EMFILE: 'too many files are open. Raise the limit (ulimit -n)',
  ENFILE: 'too many files are open on this machine. Raise its limit (fs.file-max)',
}

/** Upper bound on the chain of causes. */
const maximumCauses = 6

/**
 * The fault of a file system that an error reports or was caused by: code, meaning and what to do. Undefined for any other error, such as one
 * of a socket.
 */
export function describeFileFault(error: unknown): string | undefined {
  let current = error
  for (let depth = 0; depth < maximumCauses && current instanceof Error; depth++) {
    const { code } = current as NodeJS.ErrnoException
    const remedy = typeof code === 'string' && !('address' in current) ? remedies[code] : undefined
    if (remedy !== undefined) return `${code}, ${remedy}`
    current = current.cause
  }
  return undefined
}

/** More than a page of any database, so that a file system without a free block does not pass. */
const probeBytes = 64 * 1024

/**
 * Creates the folder if it is missing, and writes, syncs and removes a file in it. Throws the error of the operating system with the folder as
 * `path`. Only for starts, because it blocks.
 */
export function assertWritable(folder: string): void {
  const file = path.join(folder, `.portico-probe-${process.pid}`)
  try {
    makeFolder(folder)
    try {
      fs.writeFileSync(file, Buffer.alloc(probeBytes), { mode: 0o600, flush: true })
    } finally {
      fs.rmSync(file, { force: true })
    }
  } catch (error) {
    throw Object.assign(error as Error, { path: folder })
  }
}

/** Not `recursive`: that repeats without end in file systems such as /proc, and reports ENOENT where a parent is on a read-only file system. */
function makeFolder(folder: string): void {
  const missing: string[] = []
  for (let one = path.resolve(folder); !fs.existsSync(one); one = path.dirname(one)) missing.push(one)
  for (const one of missing.toReversed()) {
    try {
      fs.mkdirSync(one, { mode: 0o700 })
    } catch (error) {
      // Another process may have made it.
      if (!fs.existsSync(one)) throw error
    }
  }
}

/** PostgreSQL writes its log in files of 16 MiB, and two of them at a start. */
const leastFreeBytes = 32 * 2 ** 20

/** States that a folder has so little room that a database may not start in it; undefined otherwise, and where that is not known. */
export function describeLackOfRoom(folder: string): string | undefined {
  try {
    const { bavail, bsize } = fs.statfsSync(folder)
    const free = bavail * bsize
    return free < leastFreeBytes ? `ENOSPC, only ${Math.floor(free / 2 ** 20)} MiB are free in ${folder}` : undefined
  } catch {
    return undefined
  }
}
