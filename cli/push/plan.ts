import path from 'node:path'
import type { FileState } from './describe-file.ts'
import type { SpaceDocument } from './space-documents.ts'
import type { LocalFile } from './walk-folder.ts'

export interface DescribedFile {
  file: LocalFile
  state: FileState
}

/** A change of the Space. */
export type Action =
  | ({ kind: 'new' } & DescribedFile)
  | ({ kind: 'changed' | 'moved' | 'metadata'; document: SpaceDocument } & DescribedFile)

export interface Plan {
  actions: Action[]
  unchanged: number
  /** Unchanged files whose documents could not be processed. */
  failedBefore: string[]
  /** Files whose place has a document that push did not upload. */
  conflicts: string[]
  /** Documents whose files are gone, and older documents of one file. */
  removed: SpaceDocument[]
}

interface Planning {
  documents: readonly SpaceDocument[]
  /** Folder of the Space, empty or with a slash at its end. */
  into: string
  /** Takes documents of the same folder and name over that push did not upload. */
  takeOver: boolean
  /** True for the path of a file that this push is about and that does not exist. */
  isGone: (path: string) => boolean
}

/** Compares files with the documents of a Space. A file is the document whose metadata has its path in `sourceFile`. */
export function planPush(files: readonly DescribedFile[], { documents, into, takeOver, isGone }: Planning): Plan {
  const plan: Plan = { actions: [], unchanged: 0, failedBefore: [], conflicts: [], removed: [] }
  const { bySource, byPlace, surplus } = groupDocuments(documents, into)
  plan.removed.push(...surplus)
  const missing: DescribedFile[] = []
  for (const described of files) {
    const { file } = described
    const own = bySource.get(file.path)
    const other = own ? undefined : byPlace.get(into + file.path)
    bySource.delete(file.path)
    if (other && !takeOver) plan.conflicts.push(file.path)
    else if (own ?? other) compare(plan, described, (own ?? other)!)
    else missing.push(described)
  }
  const gone = [...bySource].flatMap(([source, document]) => (isGone(source) ? [document] : []))
  addMissing(plan, missing, gone)
  return plan
}

function groupDocuments(documents: readonly SpaceDocument[], into: string) {
  const bySource = new Map<string, SpaceDocument>()
  const byPlace = new Map<string, SpaceDocument>()
  const surplus: SpaceDocument[] = []
  for (const document of documents) {
    const { sourceFile, folder, name } = document
    if (sourceFile === undefined) {
      const place = folder === '' ? name : `${folder}/${name}`
      if (!byPlace.has(place)) byPlace.set(place, document)
    } else if (sourceFile.startsWith(into)) {
      const source = sourceFile.slice(into.length)
      if (bySource.has(source)) surplus.push(document)
      else bySource.set(source, document)
    }
  }
  return { bySource, byPlace, surplus }
}

function compare(plan: Plan, described: DescribedFile, document: SpaceDocument): void {
  const { file, state } = described
  if (state.contentSha256 !== document.contentSha256) plan.actions.push({ kind: 'changed', document, ...described })
  else if (state.metadataDigest !== document.metadataDigest) {
    plan.actions.push({ kind: 'metadata', document, ...described })
  } else {
    plan.unchanged++
    if (document.hasFailed) plan.failedBefore.push(file.path)
  }
}

/**
 * A file with the content of a document whose file is gone has moved: its document keeps its id and is not processed again. The type comes
 * from the ending, so a file with another ending is a new document.
 */
function addMissing(plan: Plan, missing: readonly DescribedFile[], gone: readonly SpaceDocument[]): void {
  const key = (sha256: string, name: string) => `${sha256} ${path.posix.extname(name).toLowerCase()}`
  const byContent = new Map<string, SpaceDocument[]>()
  for (const document of gone) {
    const content = key(document.contentSha256, document.sourceFile!)
    byContent.set(content, [...(byContent.get(content) ?? []), document])
  }
  const moved = new Set<SpaceDocument>()
  for (const described of missing) {
    const document = byContent.get(key(described.state.contentSha256, described.file.path))?.shift()
    if (document) moved.add(document)
    plan.actions.push(document ? { kind: 'moved', document, ...described } : { kind: 'new', ...described })
  }
  plan.removed.push(...gone.filter((document) => !moved.has(document)))
}
