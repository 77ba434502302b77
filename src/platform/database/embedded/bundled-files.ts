import type { PGlite } from '@electric-sql/pglite'

// The parts of Emscripten's file system that are used here and are missing in its types.
interface FileNode {
  mode: number
  mount: object
  /** Of a file in memory. */
  contents?: Uint8Array<ArrayBuffer> | undefined
}
interface MemoryFileSystem {
  readdir(folder: string): string[]
  lookupPath(path: string): { node: FileNode }
  isDir(mode: number): boolean
  unlink(path: string): void
}

/** Where PGlite puts the files of its bundle. */
const bundleFolders = ['/pglite', '/home/postgres']

/**
 * Read only by initdb, by conversions from and to other encodings than UTF-8, by replication, and by builds of extensions. They are two
 * thirds of the bundle.
 */
const unused = [
  /\/lib\/postgresql\/utf8_and_\w+\.so$/,
  /\/lib\/postgresql\/(?:libpqwalreceiver|pgoutput)\.so$/,
  /\/lib\/postgresql\/pgxs\//,
  /\/share\/postgresql\/(?:postgres\.bki|\w+\.sql|sql_features\.txt)$/,
]

/**
 * Frees the memory of files that an open database does not read. PGlite loads all as one block of 6 MB and keeps it, so the other
 * files get a copy and the block is detached.
 */
export function releaseUnusedFiles(instance: PGlite): void {
  const files = instance.Module.FS as unknown as MemoryFileSystem
  const { mount, contents } = files.lookupPath('/pglite/share/postgresql/postgres.bki').node
  const bundle = contents?.buffer
  function visit(folder: string): void {
    for (const name of files.readdir(folder)) {
      if (name === '.' || name === '..') continue
      const path = `${folder}/${name}`
      const { node } = files.lookupPath(path)
      // The data folder is mounted.
      if (node.mount !== mount) continue
      if (files.isDir(node.mode)) visit(path)
      else if (unused.some((pattern) => pattern.test(path))) files.unlink(path)
      else if (node.contents?.buffer === bundle) node.contents = node.contents?.slice()
    }
  }
  for (const folder of bundleFolders) visit(folder)
  bundle?.transfer(0)
}
