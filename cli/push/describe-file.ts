import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { type Metadata, readFileMetadata } from './file-metadata.ts'
import { digestMetadata } from './space-documents.ts'
import type { LocalFile } from './walk-folder.ts'

/** What push compares of a file. */
export interface FileState {
  sizeBytes: number
  contentSha256: string
  metadataDigest: string
  /** Changes when the file or a sidecar is written. */
  stamp: string
}

export interface MetadataSettings {
  /** Folder of the Space, empty or with a slash at its end. */
  into: string
  /** Metadata of every file. */
  common: Metadata
}

export type Describe = ReturnType<typeof createDescriber>

/** Describes files by content. A file that was not written since is not read again. */
export function createDescriber(settings: MetadataSettings) {
  const known = new Map<string, FileState>()
  return async function describe(file: LocalFile): Promise<FileState> {
    const before = known.get(file.path)
    const stamp = await stampOf(file)
    if (before?.stamp === stamp) return before
    const metadata = await loadMetadata(file, settings)
    const hash = createHash('sha256')
    let sizeBytes = 0
    for await (const chunk of createReadStream(file.location) as AsyncIterable<Buffer>) {
      hash.update(chunk)
      sizeBytes += chunk.length
    }
    const state = { sizeBytes, contentSha256: hash.digest('hex'), metadataDigest: digestMetadata(metadata), stamp }
    known.set(file.path, state)
    return state
  }
}

/** The metadata of the document of a file. */
export async function loadMetadata(file: LocalFile, { into, common }: MetadataSettings): Promise<Metadata> {
  const sourceFile = into + file.path
  const folder = path.posix.dirname(sourceFile)
  const own = await readFileMetadata(file)
  const { path: _path, ...rest } = { ...common, ...own }
  return { ...rest, ...(folder !== '.' && { path: folder }), sourceFile }
}

/** Times of a file in nanoseconds, since two writes can be within a millisecond. */
export async function stampOf({ location, sidecars }: LocalFile): Promise<string> {
  const stamps = await Promise.all(
    [location, ...sidecars].map(async (name) => {
      const { size, mtimeNs, ctimeNs, ino } = await stat(name, { bigint: true })
      return [name, size, mtimeNs, ctimeNs, ino].join(' ')
    }),
  )
  return stamps.join('\n')
}
