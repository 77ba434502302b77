import type { ArchiveKind } from '../../platform/archive/index.ts'
import {
  type SpaceHeader,
  spaceArchiveLimits,
  spaceHeaderName,
  spaceHeaderSchema,
  type SpaceManifest,
  spaceManifestName,
  spaceManifestSchema,
} from '../../contract/space-archives.ts'
import { AppError } from '../../platform/kernel/index.ts'

/** A part of a document, or of the golden questions. `part` counts from 1. */
export type PartPath =
  | { document: number; kind: 'document' }
  | { document: number; kind: 'file' }
  | { document: number; kind: 'end' }
  | { document: number; kind: 'chunks'; part: number }
  | { document: number; kind: 'vectors'; part: number }
  | { kind: 'questions'; part: number }

const documentFiles = { document: 'document.json', file: 'file', end: 'end.json' } as const
const digits = (number: number) => String(number).padStart(6, '0')

export function pathOf(path: PartPath): string {
  if (path.kind === 'questions') return `golden-questions/${digits(path.part)}.jsonl`
  const folder = `documents/${digits(path.document)}`
  if (path.kind === 'chunks') return `${folder}/chunks-${digits(path.part)}.jsonl`
  if (path.kind === 'vectors') return `${folder}/vectors-${digits(path.part)}`
  return `${folder}/${documentFiles[path.kind]}`
}

const paths =
  /^(?:golden-questions\/(\d{6})\.jsonl|documents\/(\d{6})\/(?:(document)\.json|(file)|(end)\.json|(chunks)-(\d{6})\.jsonl|(vectors)-(\d{6})))$/

/** Undefined: no archive of a Space has such a path. */
export function parsePath(name: string): PartPath | undefined {
  const match = paths.exec(name)
  if (!match) return undefined
  const [, questions, number, ...rest] = match
  if (questions !== undefined) return { kind: 'questions', part: Number(questions) }
  const document = Number(number)
  const [ofDocument, ofFile, ofEnd, ofChunks, chunkPart, , vectorPart] = rest
  const whole = ofDocument ?? ofFile ?? ofEnd
  if (whole !== undefined) return { document, kind: whole as keyof typeof documentFiles }
  if (ofChunks !== undefined) return { document, kind: 'chunks', part: Number(chunkPart) }
  return { document, kind: 'vectors', part: Number(vectorPart) }
}

/** `reason` names the part and the limit. */
export function badArchive(reason: string, options: ErrorOptions = {}): AppError {
  return new AppError('invalid_request', `The archive cannot be imported, and nothing of it was kept: ${reason}.`, {
    param: 'archive',
    ...options,
  })
}

export const spaceArchive: ArchiveKind<SpaceHeader, SpaceManifest> = {
  noun: 'Space archive',
  headerName: spaceHeaderName,
  manifestName: spaceManifestName,
  headerSchema: spaceHeaderSchema,
  manifestSchema: spaceManifestSchema,
  hashesHeader: true,
  maximumTextBytes: spaceArchiveLimits.textBytes,
  isPath: (name) => name.length <= 100 && paths.test(name),
  toError: badArchive,
}
