export { ArchiveWriter } from './archive-writer.ts'
export type { ArchiveKind } from './archive.ts'
export { readArchive } from './read-archive.ts'
