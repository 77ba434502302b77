import fs from 'node:fs'
import path from 'node:path'
import type { JournalFiles } from './journal-files.ts'

/**
 * The file that names the journal of a folder, and itself: a copy of the folder has another file. The boot and the device show whether
 * the process that wrote it ran on this very machine, where the lock of the folder proves that it is over.
 */
export interface JournalIdentity {
  journalId: string
  inode: string
  /** Nanoseconds; null where the file system does not keep it. */
  madeAt: string | null
  device: string
  boot: string | null
  /** The inode of the file that its process has locked: a process that finds another file there has not locked the same. */
  lock: string | null
}

const fileName = 'journal.json'
/** As lockFolder of src/platform/database/ names it. */
const lockName = 'lock'
/** The operator makes it, to state that no other copy of the folder will ever be used. */
const onlyCopyName = 'only-copy'

export function identityFile(folder: string): string {
  return path.join(folder, fileName)
}

/** Makes the file durable. The folder has no journal yet. */
export async function writeIdentity(files: JournalFiles, folder: string, journalId: string): Promise<void> {
  const file = identityFile(folder)
  const handle = await fs.promises.open(file, 'w', 0o600)
  try {
    const before = await placeOf(file)
    const write = async (identity: JournalIdentity) => {
      await handle.truncate(0)
      await files.write(handle.fd, Buffer.from(JSON.stringify(identity)), 0)
    }
    await write({ journalId, ...before })
    // Some file systems give the time of the last change instead.
    if ((await placeOf(file)).madeAt !== before.madeAt) await write({ journalId, ...before, madeAt: null })
    await files.sync(handle.fd)
  } finally {
    await handle.close()
  }
  await files.syncFolder(folder)
}

/** Undefined: there is none, or a crash has interrupted the making of it, before the first record. */
export async function readIdentity(folder: string): Promise<JournalIdentity | undefined> {
  const text = await fs.promises.readFile(identityFile(folder), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  try {
    return JSON.parse(text) as JournalIdentity
  } catch {
    return undefined
  }
}

/** Whether this is the folder in which the journal was made, and whether its maker ran on this machine since its last boot. */
export async function compareIdentity(folder: string, identity: JournalIdentity) {
  const here = await placeOf(identityFile(folder))
  const isOnlyCopy = fs.existsSync(path.join(folder, onlyCopyName))
  const isOriginal = here.inode === identity.inode && (identity.madeAt === null || here.madeAt === identity.madeAt)
  const isSameMachine =
    isOriginal &&
    here.lock === identity.lock &&
    here.device === identity.device &&
    here.boot !== null &&
    here.boot === identity.boot
  return { isOriginal: isOriginal || isOnlyCopy, isSameMachine }
}

/** The folder has no journal any more. */
export async function removeIdentity(files: JournalFiles, folder: string): Promise<void> {
  await files.remove(identityFile(folder))
  await files.remove(path.join(folder, onlyCopyName))
  await files.syncFolder(folder)
}

async function placeOf(file: string): Promise<Omit<JournalIdentity, 'journalId'>> {
  const { ino, dev, birthtimeNs } = await fs.promises.stat(file, { bigint: true })
  const boot = await fs.promises.readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => null)
  const lock = await fs.promises.stat(path.join(path.dirname(file), lockName), { bigint: true }).catch(() => null)
  return {
    inode: String(ino),
    madeAt: birthtimeNs === 0n ? null : String(birthtimeNs),
    device: String(dev),
    boot: boot?.trim() ?? null,
    lock: lock && String(lock.ino),
  }
}
