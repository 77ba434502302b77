import fs from 'node:fs/promises'
import path from 'node:path'
import { syncPath } from './durable-file-system.ts'

// More than the threads of libuv, so that the file system combines syncs.
const copiesAtOnce = 16

/**
 * Copies the folder of a closed database. The target exists once everything in it is on the disk; a crash leaves `TARGET.new`, which
 * the next attempt replaces.
 */
export async function copyDatabase(source: string, target: string): Promise<void> {
  const temporary = `${target}.new`
  await fs.rm(temporary, { recursive: true, force: true })
  const { files, folders } = await listTree(source)
  for (const folder of folders) await fs.mkdir(path.join(temporary, folder), { recursive: true, mode: 0o700 })
  await forEach(files, (file) => fs.copyFile(path.join(source, file), path.join(temporary, file)))
  // After all copies: the first sync then writes most of them at once.
  await forEach([...files, ...folders], (entry) => sync(path.join(temporary, entry)))
  await fs.rename(temporary, target)
  syncPath(path.dirname(target))
}

/** Paths relative to the folder; `folders` begins with the folder itself, each before those in it. */
async function listTree(folder: string): Promise<{ files: string[]; folders: string[] }> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true })
  const relative = (kind: 'isFile' | 'isDirectory') =>
    entries
      .filter((entry) => entry[kind]())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
  return { files: relative('isFile'), folders: ['', ...relative('isDirectory').sort()] }
}

async function sync(target: string): Promise<void> {
  const handle = await fs.open(target, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function forEach(items: readonly string[], work: (item: string) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < items.length) await work(items[next++]!)
  }
  await Promise.all(Array.from({ length: copiesAtOnce }, worker))
}
