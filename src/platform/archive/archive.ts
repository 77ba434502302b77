import type { z } from 'zod'

/**
 * Tar archives whose first entry is a header and whose last one is a manifest. The entries `sums/…` have the SHA-256 of the files before them,
 * in the format of sha256sum. The manifest has the number of the files, their bytes, and the SHA-256 of all sums (see `hashesHeader`).
 */

export const sumsFolder = 'sums'

/** After so many files their sums follow: neither writer nor reader keeps those of all files in memory. */
export const filesPerSums = 1_000

/** What every manifest has. */
export interface ManifestCounts {
  files: number
  bytes: number
  sha256: string
}

/** One kind of archive, for its reader. */
export interface ArchiveKind<Header, Manifest extends ManifestCounts> {
  /** For messages: `backup`. */
  noun: string
  headerName: string
  manifestName: string
  /** Of objects with `format: 1`. */
  headerSchema: z.ZodType<Header>
  manifestSchema: z.ZodType<Manifest>
  /** Whether the SHA-256 of the manifest is that of the header's text and all sums. */
  hashesHeader: boolean
  /** Of the header and of the manifest. */
  maximumTextBytes: number
  /** Whether an entry may have this path. Nothing else is read, so that no archive can write to another place. */
  isPath(name: string): boolean
  /** The error for an archive that is not complete or not valid. */
  toError(message: string, options?: ErrorOptions): Error
}

/** Receives what is in the archive. Names were checked by `isPath`. What it gets is verified only when the whole archive has been read. */
export interface ArchiveSink<Header> {
  /** Called first. Throws where the archive cannot be used. */
  header(header: Header): Promise<void> | void
  folder(name: string): Promise<void> | void
  /** Must read `content` to its end. */
  file(name: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void>
}

export function sumLine(sha256: string, name: string): string {
  return `${sha256}  ${name}\n`
}
